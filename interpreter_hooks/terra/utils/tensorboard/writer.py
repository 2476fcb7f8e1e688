"""SummaryWriter: what a program measures, in an event file.

A file is called events.out.tfevents.<seconds>.<host>.<process>.<number> and starts with the version of its format."""

import itertools
import os
import socket
import threading
import time

from . import protobuf, summary
from .records import record

_number = itertools.count()


class FileWriter:
    """One event file in a folder, which is made if need be."""

    def __init__(self, log_dir, max_queue=10, flush_secs=120, filename_suffix=""):
        self._folder = str(log_dir)
        os.makedirs(self._folder, exist_ok=True)
        parts = (f"{int(time.time()):010d}", socket.gethostname(), os.getpid(), next(_number))
        name = "events.out.tfevents." + ".".join(map(str, parts)) + filename_suffix
        self._file = open(os.path.join(self._folder, name), "ab", buffering=1 << 16)
        self._lock = threading.Lock()
        self._flush_secs, self._flushed = flush_secs, time.monotonic()
        self._write(protobuf.text(3, "brain.Event:2"), None, None)
        self.flush()

    def get_logdir(self):
        return self._folder

    def _write(self, payload, step, walltime):
        event = protobuf.double(1, time.time() if walltime is None else walltime)
        if step is not None:
            event += protobuf.integer(2, step)
        with self._lock:
            if self._file is None:
                self.reopen()
            self._file.write(record(event + payload))
            if time.monotonic() - self._flushed > self._flush_secs:
                self._file.flush()
                self._flushed = time.monotonic()

    def add_summary(self, message, global_step=None, walltime=None):
        self._write(protobuf.text(5, message), None if global_step is None else int(global_step), walltime)

    def add_graph(self, data, walltime=None):
        """The bytes of a GraphDef."""
        self._write(protobuf.text(4, data), None, walltime)

    def flush(self):
        if self._file is not None:
            self._file.flush()
            self._flushed = time.monotonic()

    def close(self):
        if self._file is not None:
            self._path = self._file.name
            self._file.close()
            self._file = None

    def reopen(self):
        if self._file is None:
            self._file = open(self._path, "ab", buffering=1 << 16)


class SummaryWriter:
    """Writes into log_dir; without one into runs/<time>_<host><comment>."""

    def __init__(self, log_dir=None, comment="", purge_step=None, max_queue=10, flush_secs=120, filename_suffix=""):
        if not log_dir:
            log_dir = os.path.join("runs", time.strftime("%b%d_%H-%M-%S") + "_" + socket.gethostname() + comment)
        self.log_dir = log_dir
        self._options = (max_queue, flush_secs, filename_suffix)
        self.all_writers = None
        self.file_writer = None
        writer = self._get_file_writer()
        if purge_step is not None:
            writer._write(protobuf.text(7, protobuf.integer(1, 2)), purge_step, None)

    def _get_file_writer(self):
        if self.file_writer is None:
            self.file_writer = FileWriter(self.log_dir, *self._options)
            self.all_writers = {self.file_writer.get_logdir(): self.file_writer}
        return self.file_writer

    def get_logdir(self):
        return self.log_dir

    def _add(self, message, global_step, walltime):
        self._get_file_writer().add_summary(message, global_step, walltime)

    def add_scalar(self, tag, scalar_value, global_step=None, walltime=None, new_style=False, double_precision=False):
        self._add(summary.scalar(tag, scalar_value, new_style, double_precision), global_step, walltime)

    def add_scalars(self, main_tag, tag_scalar_dict, global_step=None, walltime=None):
        """Each in a file of its own below log_dir, so that one chart shows them all."""
        walltime = time.time() if walltime is None else walltime
        self._get_file_writer()
        for tag, value in tag_scalar_dict.items():
            folder = os.path.join(str(self.log_dir), f"{main_tag.replace('/', '_')}_{tag}")
            writer = self.all_writers.get(folder)
            if writer is None:
                writer = self.all_writers[folder] = FileWriter(folder, *self._options)
            writer.add_summary(summary.scalar(main_tag, value), global_step, walltime)

    def add_tensor(self, tag, tensor, global_step=None, walltime=None):
        raise NotImplementedError("SummaryWriter.add_tensor is not in Terra yet; add_histogram and add_text are there")

    def add_histogram(self, tag, values, global_step=None, bins="tensorflow", walltime=None, max_bins=None):
        self._add(summary.histogram(tag, values, bins, max_bins), global_step, walltime)

    def add_histogram_raw(self, tag, min, max, num, sum, sum_squares, bucket_limits, bucket_counts, global_step=None, walltime=None):
        if len(bucket_limits) != len(bucket_counts):
            raise ValueError("len(bucket_limits) != len(bucket_counts), see the document.")
        self._add(summary.histogram_raw(tag, min, max, num, sum, sum_squares, bucket_limits, bucket_counts), global_step, walltime)

    def add_image(self, tag, img_tensor, global_step=None, walltime=None, dataformats="CHW"):
        self._add(summary.image(tag, img_tensor, dataformats), global_step, walltime)

    def add_images(self, tag, img_tensor, global_step=None, walltime=None, dataformats="NCHW"):
        self._add(summary.image(tag, img_tensor, dataformats), global_step, walltime)

    def add_figure(self, tag, figure, global_step=None, close=True, walltime=None):
        """A figure of matplotlib, or several side by side as a batch."""
        import numpy

        pages = []
        for one in figure if isinstance(figure, (list, tuple)) else [figure]:
            canvas = one.canvas if hasattr(one.canvas, "buffer_rgba") else _canvas(one)
            canvas.draw()
            pages.append(numpy.asarray(canvas.buffer_rgba())[..., :3].copy())
            if close:
                import matplotlib.pyplot

                matplotlib.pyplot.close(one)
        self.add_image(tag, numpy.stack(pages), global_step, walltime, "NHWC")

    def add_audio(self, tag, snd_tensor, global_step=None, sample_rate=44100, walltime=None):
        self._add(summary.audio(tag, snd_tensor, sample_rate), global_step, walltime)

    def add_text(self, tag, text_string, global_step=None, walltime=None):
        self._add(summary.text(tag, text_string), global_step, walltime)

    def add_pr_curve(self, tag, labels, predictions, global_step=None, num_thresholds=127, weights=None, walltime=None):
        self._add(summary.pr_curve(tag, labels, predictions, num_thresholds, weights), global_step, walltime)

    def add_pr_curve_raw(
        self, tag, true_positive_counts, false_positive_counts, true_negative_counts, false_negative_counts, precision,
        recall, global_step=None, num_thresholds=127, weights=None, walltime=None,
    ):  # fmt: skip
        counts = (true_positive_counts, false_positive_counts, true_negative_counts, false_negative_counts, precision, recall)
        self._add(summary.pr_curve_raw(tag, *counts, num_thresholds, weights), global_step, walltime)

    def add_custom_scalars(self, layout):
        self._add(summary.custom_scalars(layout), None, None)

    def add_custom_scalars_multilinechart(self, tags, category="default", title="untitled"):
        self.add_custom_scalars({category: {title: ["Multiline", tags]}})

    def add_custom_scalars_marginchart(self, tags, category="default", title="untitled"):
        self.add_custom_scalars({category: {title: ["Margin", tags]}})

    def add_hparams(self, hparam_dict, metric_dict, hparam_domain_discrete=None, run_name=None, global_step=None):
        """In a folder of its own below log_dir, with the metrics as scalars."""
        messages = summary.hparams(hparam_dict, metric_dict, hparam_domain_discrete)
        folder = os.path.join(str(self.log_dir), str(time.time()) if run_name is None else run_name)
        with SummaryWriter(folder) as own:
            for message in messages:
                own._add(message, global_step, None)
            for name, value in metric_dict.items():
                own.add_scalar(name, value, global_step)

    def add_graph(self, model, input_to_model=None, verbose=False, use_strict_trace=True):
        """What torch.fx makes of the model."""
        from .graph import graph

        self._get_file_writer().add_graph(graph(model))

    def add_onnx_graph(self, prototxt):
        raise NotImplementedError("SummaryWriter.add_onnx_graph: Terra does not read ONNX files.")

    def add_embedding(self, mat, metadata=None, label_img=None, global_step=None, tag="default", metadata_header=None):
        """Points, one per row, with a label and a little image for each."""
        from .embedding import write

        write(str(self.log_dir), summary.as_tensor(mat), metadata, label_img, global_step, tag, metadata_header)

    def add_mesh(self, tag, vertices, colors=None, faces=None, config_dict=None, global_step=None, walltime=None):
        raise NotImplementedError("SummaryWriter.add_mesh is not in Terra yet.")

    def add_video(self, tag, vid_tensor, global_step=None, fps=4, walltime=None):
        raise NotImplementedError("SummaryWriter.add_video is not in Terra yet; add_images shows the frames as a grid.")

    def flush(self):
        for writer in (self.all_writers or {}).values():
            writer.flush()

    def close(self):
        for writer in (self.all_writers or {}).values():
            writer.close()
        self.file_writer = self.all_writers = None

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()
        return False


def _canvas(figure):
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    return FigureCanvasAgg(figure)
