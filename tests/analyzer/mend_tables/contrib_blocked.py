"""com.microsoft.nchwc: shapes by hand; channels are padded to whole blocks of 8 or 16."""

from functools import partial

from tests.analyzer.mend_rows import Row

M = partial(Row, domain="com.microsoft.nchwc")
POOL = {"kernel_shape": [2, 2], "strides": [2, 2]}

ROWS = [
    M("Conv", ["float32[n,3,8,8]", "float32[16,3,3,3]"], ["float32[n,16,6,6]"], note="8 - 3 + 1"),
    M("Conv", ["float32[1,16,8,8]", "float32[16,1,3,3]"], ["float32[1,16,4,4]"],
      {"group": 16, "strides": [2, 2], "pads": [1, 1, 1, 1]}, note="(8 + 2 - 3) // 2 + 1"),
    M("MaxPool", ["float32[n,16,8,8]"], ["float32[n,16,4,4]"], POOL),
    M("AveragePool", ["float32[1,16,5,5]"], ["float32[1,16,3,3]"], {**POOL, "ceil_mode": 1}, note="ceil(3 / 2) + 1"),
    M("GlobalMaxPool", ["float32[n,16,8,8]"], ["float32[n,16,1,1]"]),
    M("GlobalAveragePool", ["float32[n,16,8,4]"], ["float32[n,16,1,1]"]),
    M("ReorderInput", ["float32[n,32,8,4]"], ["float32[n,32,8,4]"]),
    M("ReorderInput", ["float32[n,8,4,32]"], ["float32[n,32,8,4]"], {"channels_last": 1}),
    M("ReorderInput", ["float32[1,20,8,4]"], ["float32[1,?,8,4]"], note="24 or 32, and no filter to tell"),
    M("ReorderOutput", ["float32[n,32,8,4]"], ["float32[n,20,8,4]"], {"channels": 20}),
    M("ReorderOutput", ["float32[n,32,8,4]"], ["float32[n,8,4,20]"], {"channels": 20, "channels_last": 1}),
    M("Upsample", ["float32[n,16,8,4]"], ["float32[n,16,16,12]"], {"scales": [1, 1, 2, 3]}),
]  # fmt: skip
