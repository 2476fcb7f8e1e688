"""What is told in a sentence."""


def refused(kind, sentence, call):
    try:
        call()
    except kind as e:
        assert sentence in str(e), (sentence, str(e))
    else:
        raise AssertionError(f"nothing was raised: {sentence}")
