"""Groups of devices in several dimensions: of one process each has size 1."""

from .group import ProcessGroup, init_process_group, is_initialized, of

__all__ = ["DeviceMesh", "init_device_mesh"]


class DeviceMesh:
    """A mesh of this process alone, with as many dimensions as it has names."""

    def __init__(self, device_type, mesh, *, mesh_dim_names=None, **_):
        import _terra_C as C

        self.device_type, self.mesh = device_type, C.as_tensor(mesh)
        self.mesh_dim_names = None if mesh_dim_names is None else tuple(mesh_dim_names)
        if self.mesh.numel() != 1:
            raise RuntimeError(
                f"Mesh should not be bigger than default world size 1, but found {self.mesh.numel()} ranks: several "
                "processes are not in Terra yet"
            )

    @property
    def ndim(self):
        return self.mesh.dim()

    @property
    def shape(self):
        return tuple(self.mesh.shape)

    def size(self, mesh_dim=None):
        return 1

    def __getitem__(self, names):
        names = (names,) if isinstance(names, str) else tuple(names)
        unknown = [name for name in names if name not in (self.mesh_dim_names or ())]
        if unknown:
            raise KeyError(f"Invalid mesh_dim_name {unknown[0]}: the dimensions are {self.mesh_dim_names}")
        return DeviceMesh(self.device_type, self.mesh.reshape([1] * len(names)), mesh_dim_names=names)

    def get_group(self, mesh_dim=None):
        return ProcessGroup(of(None).backend)

    def get_rank(self):
        return 0

    def get_local_rank(self, mesh_dim=None):
        return 0

    def get_coordinate(self):
        return [0] * self.ndim

    def __repr__(self):
        names = f", mesh_dim_names={self.mesh_dim_names}" if self.mesh_dim_names else ""
        return f"DeviceMesh('{self.device_type}', {self.mesh.tolist()}{names})"


def init_device_mesh(device_type, mesh_shape, *, mesh_dim_names=None, **_):
    """A mesh of these sizes, all 1."""
    import _terra_C as C

    if mesh_dim_names is not None and len(mesh_dim_names) != len(mesh_shape):
        raise RuntimeError(
            f"mesh_shape and mesh_dim_names should have same length! Found len(mesh_dim_names): {len(mesh_dim_names)} and "
            f"len(mesh_shape):{len(mesh_shape)}."
        )
    if any(size != 1 for size in mesh_shape):
        raise RuntimeError(f"A mesh of {tuple(mesh_shape)} processes was asked for, and Terra has groups of one process")
    if not is_initialized():
        init_process_group("gloo", world_size=1, rank=0, init_method="tcp://")
    return DeviceMesh(device_type, C.zeros(tuple(mesh_shape), dtype=C.int64), mesh_dim_names=mesh_dim_names)
