# run: TERRA_EXACT=1
# run: TERRA_EXACT=1 TERRA_CHAOS=guard=*@3
"""Exceptions raised and caught inside the recorded frame, where guarded facts decide that they are."""
import os

import terra
from _harness import Bag, main, program


def t(n):
    return terra.arange(4.0).view(2, 2) * 0.5 + n


class Trouble(Exception):
    pass


class Detailed(Trouble):
    def __init__(self, code, x):
        super().__init__(f"code {code}")
        self.code, self.x = code, x


@program(calls=12, captures=8)
def else_and_finally():
    def f(x, d, log):
        try:
            y = x * d["k"]
        except KeyError:
            y = x - 1
        else:
            y = y + 1
        finally:
            log.append("f")
        return y
    log = []
    return f, lambda i: (t(i), {"k": 2.0} if i % 2 else {}, log), log


@program(calls=12, captures=7)
def custom_exception_with_fields():
    def check(x, code):
        if code > 1:
            raise Detailed(code, x * code)
        return x
    def f(x, code):
        try:
            return check(x, code)
        except Detailed as e:
            return e.x + e.code, str(e), e.args
    return f, lambda i: (t(i), i % 3), None


@program(calls=12, captures=6)
def several_classes_and_as():
    def pick(n):
        if n == 0:
            raise ValueError("v")
        if n == 1:
            raise TypeError("t", n)
        raise KeyError("k")
    def f(x, n):
        try:
            pick(n)
        except (ValueError, TypeError) as e:
            return x * len(e.args), type(e).__name__
        except LookupError as e:
            return x + 1, e.args[0]
    return f, lambda i: (t(i), i % 3), None


@program(calls=12, captures=7)
def nested_and_reraised():
    def f(x, n, log):
        try:
            try:
                if n:
                    raise ValueError(n)
                log.append("fine")
            except ValueError:
                log.append("inner")
                raise
            finally:
                log.append("finally")
        except ValueError as e:
            log.append("outer")
            x = x * e.args[0]
        return x
    log = []
    return f, lambda i: (t(i), i % 2, log), log


@program(calls=12, captures=10)
def raise_from():
    def f(x):
        try:
            try:
                raise ValueError("a")
            except ValueError as first:
                raise Trouble("b") from first
        except Trouble as e:
            cause = e.__cause__
            return x * 2, type(cause).__name__, cause.args, e.__suppress_context__
    return f, lambda i: (t(i),), None


@program(calls=12, captures=10)
def context_of_exception():
    def f(x):
        try:
            try:
                {}["missing"]
            except KeyError:
                raise Trouble("while handling")
        except Trouble as e:
            return x * 2, isinstance(e.__context__, KeyError)
    return f, lambda i: (t(i),), None


@program(calls=12, captures=6)
def raised_by_operations_on_facts():
    def f(x, o, n):
        seen = []
        try:
            o.missing
        except AttributeError:
            seen.append("attribute")
        try:
            [1, 2][n]
        except IndexError:
            seen.append("index")
        try:
            {"a": 1}[n]
        except KeyError:
            seen.append("key")
        try:
            n // (n - n)
        except ZeroDivisionError:
            seen.append("zero")
        try:
            n + "a"
        except TypeError:
            seen.append("type")
        try:
            int("q")
        except ValueError:
            seen.append("value")
        try:
            next(iter([]))
        except StopIteration:
            seen.append("stop")
        return x * len(seen), seen
    o = Bag(k=1)
    return f, lambda i: (t(i), o, 2 + i % 3), o


@program(calls=12, captures=8)
def attribute_appears():
    def f(x, o):
        try:
            return x * o.scale
        except AttributeError:
            return x - 1
    o = Bag()
    def args(i):
        if i == 4:
            o.scale = 3.0
        if i == 8:
            del o.scale
        return t(i), o
    return f, args, o


@program(calls=12, captures=7)
def index_appears():
    def f(x, l, n):
        try:
            return x * l[n]
        except IndexError:
            return x
    return f, lambda i: (t(i), [1.0] * (1 + i // 4), 1), None


@program(calls=12, captures=7)
def assertions():
    def f(x, n):
        assert n >= 0, "negative"
        try:
            assert n == 0, f"n is {n}"
        except AssertionError as e:
            return x * 2, e.args
        return x
    return f, lambda i: (t(i), i % 2), None


@program(calls=12, captures=5)
def finally_with_early_return():
    def f(x, n, o):
        try:
            if n == 0:
                return x * 2
            if n == 1:
                return x * 3
        finally:
            o.count += 1
        return x * 4
    o = Bag(count=0)
    return f, lambda i: (t(i), i % 3, o), o


@program(calls=12, captures=5)
def finally_overrides_return():
    def f(x, n):
        for j in range(4):
            try:
                if j == n:
                    return x
            finally:
                if j == 2:
                    break
        return x * j
    return f, lambda i: (t(i), i % 4), None


@program(calls=12, captures=5)
def break_and_continue_in_try():
    def f(x, n, log):
        for j in range(5):
            try:
                if j == n:
                    continue
                if j == n + 2:
                    break
                x = x + j
            finally:
                log.append(j)
        else:
            x = x * 10
        return x
    log = []
    return f, lambda i: (t(i), i % 4, log), log


@program(calls=12, captures=5)
def exception_in_loop_of_calls():
    def risky(x, j, n):
        if j == n:
            raise Trouble(j)
        return x + j
    def f(x, n):
        failed = []
        for j in range(3):
            try:
                x = risky(x, j, n)
            except Trouble as e:
                failed.append(e.args[0])
        return x, failed
    return f, lambda i: (t(i), i % 4), None


@program(calls=12, captures=None, reason=28)
def tensor_error_caught():
    def f(x, y):
        try:
            return x @ y
        except RuntimeError:
            return x * 2
    return f, lambda i: (t(i), terra.ones(3)), None


@program(calls=12, captures=None, reason=13)
def exception_object_escapes():
    def f(x, log):
        try:
            raise Trouble("kept", 3)
        except Trouble as e:
            log.append(e)
        return x * 2
    log = []
    return f, lambda i: (t(i), log), log


@program(calls=12, captures=10)
def exception_returned_and_raised_later():
    def make(n):
        return ValueError("made", n)
    def f(x):
        e = make(3)
        try:
            raise e
        except ValueError as caught:
            same = caught is e
        return x * e.args[1], same
    return f, lambda i: (t(i),), None


@program(calls=12, captures=10)
def cleanup_deletes_name():
    def f(x):
        e = 1
        try:
            raise KeyError
        except KeyError as e:
            pass
        try:
            e
        except UnboundLocalError:
            return x * 3
        return x
    return f, lambda i: (t(i),), None


@program(calls=12, captures=10)
def exception_state_is_restored():
    import sys
    def f(x):
        try:
            raise KeyError("a")
        except KeyError:
            try:
                raise ValueError("b")
            except ValueError:
                pass
            x = x + 1
        return x
    def args(i):
        assert sys.exc_info() == (None, None, None)
        return t(i),
    return f, args, None


@program(calls=12, captures=5)
def generator_raises_into_caller():
    def gen(xs, n):
        for j, x in enumerate(xs):
            if j == n:
                raise Trouble(j)
            yield x
    def f(xs, n):
        total = xs[0] * 0
        try:
            for x in gen(xs, n):
                total = total + x
        except Trouble as e:
            return total, e.args
        return total, ()
    return f, lambda i: ([t(i), t(1), t(2)], i % 4), None


@program(calls=12, captures=10)
def thrown_into_generator():
    def gen(x, log):
        while True:
            try:
                x = x + 1
                yield x
            except Trouble as e:
                log.append(e.args[0])
                x = x * 2
    def f(x, log):
        g = gen(x, log)
        a = next(g)
        b = g.throw(Trouble("first"))
        c = g.throw(Trouble, "second")
        g.close()
        return a, b, c
    log = []
    return f, lambda i: (t(i), log), log


@program(calls=12, captures=8)
def classes_in_an_attribute():
    def f(x, o):
        try:
            raise KeyError("k")
        except o.errors:
            return x * 2
        except LookupError:
            return x * 3
    o = Bag(errors=(KeyError, ValueError))
    def args(i):
        if i == 4:
            o.errors = (ValueError, TypeError)
        if i == 8:
            o.errors = KeyError
        return t(i), o
    return f, args, o


@program(calls=12, captures=None, reason=28)
def exception_of_the_caller_is_raised_again():
    def f(x):
        try:
            raise
        except KeyError as e:
            return x * e.args[0]
    def handler(x, k):
        try:
            raise KeyError(k)
        except KeyError:
            return os.getpid() and f(x)  # the call keeps the handler from being recorded, f is recorded on its own
    handler.target = f
    return handler, lambda i: (t(i), float(i)), None


@program(calls=12, captures=None, reason=28)
def exception_from_outside_is_raised():
    def f(x, e):
        try:
            raise e
        except ValueError as caught:
            return x * 2
    kept = ValueError("kept")
    def args(i):
        kept.__traceback__ = None
        return t(i), kept
    return f, args, None


@program(calls=12, captures=9)
def caught_while_the_caller_handles():
    def f(x, d):
        try:
            return x * d["k"]
        except KeyError:
            return x
    def handler(x, d):
        try:
            raise ValueError(1)
        except ValueError:
            return f(x, d)
    return handler, lambda i: (t(i), {"k": 2.0} if i % 2 else {}), None


@program(calls=12, captures=None, reason=1)
def raises_out_of_the_frame():
    def f(x, n):
        y = x * 2
        raise Trouble(n)
    return f, lambda i: (t(i), i % 2), None


@program(calls=12, captures=4)
def raises_on_some_calls():
    def f(x, n):
        y = x * 2
        if n > 2:
            raise Trouble(n)
        return y
    return f, lambda i: (t(i), i % 4), None


if __name__ == "__main__":
    main()
