"""llama.cpp's own server, which the wheel xllamacpp has: python llama_cpp.py MODEL PORT [embeddings]"""

import signal
import sys

import xllamacpp

params = xllamacpp.CommonParams()
params.model.path, params.port = sys.argv[1], int(sys.argv[2])
params.hostnames = ["127.0.0.1"]
params.n_ctx, params.n_parallel = 8192, 4
if len(sys.argv) > 3:
    params.embedding, params.n_batch, params.n_ubatch = True, 2048, 2048
    params.pooling_type = xllamacpp.llama_pooling_type.LLAMA_POOLING_TYPE_MEAN
server = xllamacpp.Server(params)
signal.sigwait({signal.SIGTERM, signal.SIGINT})
