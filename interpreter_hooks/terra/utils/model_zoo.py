"""The old name of torch.hub's downloads."""

from ..hub import load_state_dict_from_url

load_url = load_state_dict_from_url
