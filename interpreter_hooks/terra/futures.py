"""torch.futures: results that are there later. Here what one is asked for is computed when it is made."""

import threading

from ._names import lazily

__all__ = ["Future", "collect_all", "wait_all"]


class Future:
    """A value that somebody sets, and functions to be called with it."""

    def __class_getitem__(cls, item):
        """Future[T], in annotations."""
        import types

        return types.GenericAlias(cls, item)

    def __init__(self, *, devices=None):
        self._done = False
        self._finished = threading.Event()
        self._value = self._error = None
        self._callbacks = []

    def done(self):
        return self._done

    def _finish(self, value, error):
        if self._done:
            raise RuntimeError("Future can only be marked completed once")
        self._done, self._value, self._error = True, value, error
        self._finished.set()
        callbacks, self._callbacks = self._callbacks, []
        for callback in callbacks:
            callback(self)

    def set_result(self, result):
        self._finish(result, None)

    def set_exception(self, result):
        if not isinstance(result, BaseException):
            raise AssertionError(f"{result} is of type {type(result)}, not an Exception.")
        self._finish(None, result)

    def value(self):
        """The result, or the exception raised."""
        if not self._done:
            raise RuntimeError("the future has no value yet: nobody called set_result()")
        if self._error is not None:
            raise self._error
        return self._value

    def wait(self):
        """The same, when somebody has set it."""
        self._finished.wait()
        return self.value()

    def add_done_callback(self, callback):
        if self._done:
            callback(self)
        else:
            self._callbacks.append(callback)

    def then(self, callback):
        """A future of what callback(self) gives."""
        following = Future()

        def go_on(future):
            try:
                following.set_result(callback(future))
            except Exception as error:
                following.set_exception(error)

        self.add_done_callback(go_on)
        return following


def collect_all(futures):
    """A future of the list of these, once all are done."""
    futures, all_done = list(futures), Future()

    def one_more(_):
        if all(future.done() for future in futures) and not all_done.done():
            all_done.set_result(futures)

    if not futures:
        all_done.set_result(futures)
    for future in futures:
        future.add_done_callback(one_more)
    return all_done


def wait_all(futures):
    """The values of all."""
    return [future.wait() for future in collect_all(futures).wait()]


__getattr__ = lazily(__name__)
