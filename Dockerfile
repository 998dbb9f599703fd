# One image for engine, console and the one-off commands; the corpus is baked in.
#   docker build -t anamnesis .
# With the production models (a large image), torch from the index of CPU builds that PyTorch's site names:
#   docker build -t anamnesis --build-arg EXTRAS=models --build-arg TORCH_INDEX=… .

FROM python:3.11-slim AS build
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1 PATH=/opt/venv/bin:$PATH
ARG EXTRAS=""
ARG TORCH_INDEX=""
RUN python -m venv /opt/venv
WORKDIR /app
COPY .ci/requirements/ .ci/requirements/
RUN pip install --require-hashes --no-deps -r .ci/requirements/embedders.txt
# Not the default index: its torch brings gigabytes of CUDA along.
RUN if [ "$EXTRAS" = models ]; then \
      test -n "$TORCH_INDEX" || { echo "EXTRAS=models needs TORCH_INDEX, the index of CPU builds of torch" >&2; exit 1; } && \
      pip install --index-url "$TORCH_INDEX" torch==2.13.0 && \
      python -c "import torch; assert torch.version.cuda is None, 'not a CPU build'"; \
    fi
COPY pyproject.toml README.md ./
COPY engine/ engine/
COPY console/ console/
RUN pip install -c .ci/requirements/constraints.txt -e ".${EXTRAS:+[$EXTRAS]}"

FROM python:3.11-slim
RUN useradd --system --uid 10001 --home-dir /var/lib/anamnesis --shell /usr/sbin/nologin anamnesis && \
    install -d -o anamnesis -g anamnesis -m 700 /var/lib/anamnesis /models
ENV PATH=/opt/venv/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    ANAMNESIS_STATE_DIR=/var/lib/anamnesis \
    ANAMNESIS_API_HOST=0.0.0.0 \
    ANAMNESIS_CONSOLE_HOST=0.0.0.0 \
    HF_HOME=/models
COPY --from=build /opt/venv /opt/venv
COPY --from=build /app /app
COPY corpus/ /app/corpus/
COPY evalruns/sets/ /app/evalruns/sets/
WORKDIR /app
USER anamnesis
VOLUME ["/var/lib/anamnesis", "/models"]
EXPOSE 8710 8711
HEALTHCHECK --interval=15s --timeout=5s --start-period=60s --retries=4 \
  CMD ["python", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:8710/readyz', timeout=4)"]
CMD ["anamnesis", "serve"]
