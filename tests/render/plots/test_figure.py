"""The picture as a whole: what stands on it, its files, and what is said where there can be none."""

import sys
from dataclasses import replace

import pytest

import neural_cost
from neural_cost.models import path
from neural_cost.render.plots.points import Point
from neural_cost.render.plots.roofline import areas
from tests.render.plots.pictures import ENDLESS, FATES, MATMUL, labels, offsets, report_of

MAGIC = {".png": b"\x89PNG\r\n\x1a\n", ".svg": b"<?xml", ".pdf": b"%PDF-"}


def told(figure):
    return "\n".join(text.get_text() for text in figure.texts)


def test_what_is_no_point_is_in_the_strip_or_in_the_notes(tmp_path):
    figure = neural_cost.plot(report_of(FATES, tmp_path))
    roofline, strip = figure.axes
    assert len(offsets(roofline)) == len(offsets(strip)) == 1
    assert offsets(strip)[0][0] == pytest.approx(1e11)  # it moves at the bandwidth of the device
    assert "Not drawn: " in told(figure)
    for part in ("4 nodes computed at load time", "1 node without FLOPs and bytes", "1 node of unknown cost"):
        assert part in told(figure)


def test_ceilings_are_lines_of_the_device(tmp_path):
    axes = neural_cost.plot(report_of(MATMUL, tmp_path)).axes[0]
    lines = [
        line.get_xydata().tolist() for line in axes.lines if line.get_linestyle() == "-" and len(line.get_xydata()) == 2
    ]
    low, high = axes.get_xlim()
    ridge = 1e12 / 1e11
    assert [[ridge, 1e12], [pytest.approx(high), 1e12]] in lines
    assert [[pytest.approx(low), pytest.approx(1e11 * low)], [ridge, 1e12]] in lines


def test_areas_are_shares_of_the_time_and_never_too_small_to_see():
    def point(seconds):
        return Point("p", 0, "other", 1, 1, seconds, None, measured=True)

    large, half, none = areas([point(0.10), point(0.05), point(0.0)], 1.0)
    assert large == pytest.approx(2 * half)
    assert none > 0
    (alone,) = areas([point(1.0)], 1.0)
    assert alone < 10 * large  # one that takes all the time does not fill the picture


def test_a_model_without_work_has_a_picture_without_points(tmp_path):
    figure = neural_cost.plot(report_of("g (float[4] x) => (float[4] y) { y = Identity(x) }", tmp_path))
    assert [offsets(axes) for axes in figure.axes] == [[]]
    assert "Not drawn: 1 node without FLOPs and bytes" in told(figure)


def test_a_profile_without_a_device_has_points_and_no_ceilings():
    profile = neural_cost.profile(path("dnn"), threads=1, budget_s=0.05)
    report, kernels = neural_cost.analyze(path("dnn")), [replace(each, bound_s=None) for each in profile.kernels]
    figure = neural_cost.plot(replace(profile, report=report, kernels=kernels, gap=None))
    assert offsets(figure.axes[0])
    assert labels(figure)  # by their time
    assert not any("bound" in text.get_text() for _, text in labels(figure))
    assert not any("FLOP/" in text.get_text() for text in figure.axes[0].texts)  # neither roof nor ridge
    assert "No figures of the device are known: no ceilings." in told(figure)


def test_the_title_says_what_it_is_of():
    figure = neural_cost.plot(neural_cost.analyze(path("cnn"), device="A100"))
    assert "cnn.onnx on NVIDIA A100-SXM4-80GB (datasheet)" in told(figure)
    assert "batch = 1 (assumed)" in told(figure)
    assert tuple(figure.get_size_inches() * figure.dpi) == (1200, 800)


def test_the_whole_model_is_a_point_only_where_it_is_known_whole(tmp_path):
    def stars(text):
        return [line for line in neural_cost.plot(report_of(text, tmp_path)).axes[0].lines if line.get_marker() == "*"]

    (star,) = stars(MATMUL)
    assert star.get_xydata().tolist() == [[pytest.approx(65536 / 14336), pytest.approx(65536 / 143.36e-9)]]
    assert stars(FATES) == []  # an operator has no cost
    assert stars(ENDLESS) == []  # a loop runs no one knows how often


def test_names_are_text_and_settings_of_the_user_stay(tmp_path):
    import matplotlib

    matplotlib.rcParams["font.size"] = 31.0
    try:
        report = report_of(MATMUL, tmp_path, name="$\\frac 模型\x1b")
        figure = neural_cost.plot(report, tmp_path / "a.svg")
        assert "$\\frac 模型\N{REPLACEMENT CHARACTER}" in labels(figure)[0][1].get_text()
        assert matplotlib.rcParams["font.size"] == 31.0
    finally:
        matplotlib.rcParams["font.size"] = 10.0


def test_the_same_picture_is_the_same_bytes(tmp_path):
    for suffix in MAGIC:
        for name in ("a", "b"):
            neural_cost.plot(report_of(MATMUL, tmp_path), tmp_path / f"{name}{suffix}")
        assert (tmp_path / f"a{suffix}").read_bytes() == (tmp_path / f"b{suffix}").read_bytes()


@pytest.mark.parametrize("suffix", MAGIC)
def test_the_command_writes_each_format(suffix, run, tmp_path):
    file = tmp_path / f"roofline{suffix}"
    code, out, err = run("analyze", path("dnn"), "--device", "T4", "--plot", file)
    assert (code, err) == (0, "")
    assert "MACs" in out
    assert file.read_bytes().startswith(MAGIC[suffix])
    assert [each.name for each in tmp_path.iterdir()] == [file.name]


def test_a_profile_has_its_gap_beside_it(run, tmp_path):
    file = tmp_path / "p.png"
    options = ("--budget", "0.05", "--threads", "1", "--device", "A100", "--plot", file)
    assert run("profile", path("dnn"), *options)[0] == 0
    profile = neural_cost.profile(path("dnn"), device="A100", threads=1, budget_s=0.05)
    figure = neural_cost.plot(profile)
    waterfall = next(axes for axes in figure.axes if "time of a run" in axes.get_xlabel())
    assert waterfall.patches[-1].get_width() == pytest.approx(profile.measurement.median_s * 1e6, rel=1e-6)
    drawn = sum(len(offsets(axes)) for axes in figure.axes if axes is not waterfall)
    assert 0 < drawn <= len(profile.kernels)


@pytest.mark.parametrize(
    ("file", "why"),
    [
        ("roofline.jpg", "a picture ends in .png, .svg or .pdf"),
        ("roofline", "a picture ends in .png, .svg or .pdf"),
        ("nowhere/roofline.svg", "does not exist; give another --plot"),
        ("same.svg", "--plot is the same file"),
    ],
)
@pytest.mark.parametrize("command", ["analyze", "profile"])
def test_mistakes_are_said_in_a_sentence(command, file, why, run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, out, err = run(command, path("dnn"), "--plot", file, "--output", "same.svg")
    assert (code, out) == (2, "")
    assert why in err
    assert list(tmp_path.iterdir()) == []


def test_without_a_device_there_is_no_roofline(tmp_path):
    with pytest.raises(neural_cost.DeviceError, match="--device"):
        neural_cost.plot(report_of(MATMUL, tmp_path, device=None))


def test_without_matplotlib_it_says_what_to_install(run, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    code, out, err = run("analyze", path("dnn"), "--plot", tmp_path / "a.svg")
    assert (code, out) == (3, "")
    assert err == "a picture needs matplotlib: pip install 'neural-cost[plot]'.\n"
    assert run("analyze", path("dnn"))[0] == 0
