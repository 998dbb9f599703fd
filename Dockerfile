# One image for engine, console and the one-off commands; the corpus and its vectors are baked in, models are not.
#   docker build -t anamnesis .
# With the libraries of the production models, torch without CUDA (a larger image; the models come into /models once):
#   docker build -t anamnesis --build-arg EXTRAS=models .
# The same behind a mirror: --build-arg TORCH_INDEX=… names its index of CPU builds of torch.

FROM python:3.11-slim AS build
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1 PATH=/opt/venv/bin:$PATH
ARG EXTRAS=""
ARG TORCH_INDEX="https://download.pytorch.org/whl/cpu"
RUN python -m venv /opt/venv
WORKDIR /app
COPY .ci/requirements/ .ci/requirements/
RUN pip install --require-hashes --no-deps -r .ci/requirements/embedders.txt
# Not the default index: its torch brings gigabytes of CUDA along.
RUN if [ "$EXTRAS" = models ]; then \
      pip install --index-url "$TORCH_INDEX" torch==2.13.0 && \
      python -c "import torch; assert torch.version.cuda is None, 'not a CPU build'"; \
    fi
COPY pyproject.toml README.md ./
COPY engine/ engine/
COPY console/ console/
RUN pip install -c .ci/requirements/constraints.txt -e ".${EXTRAS:+[$EXTRAS]}"

FROM python:3.11-slim
RUN groupadd --system --gid 10001 anamnesis && \
    useradd --system --uid 10001 --gid 10001 --home-dir /var/lib/anamnesis --shell /usr/sbin/nologin anamnesis && \
    install -d -o 10001 -g 10001 -m 700 /var/lib/anamnesis /models
ENV PATH=/opt/venv/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    ANAMNESIS_STATE_DIR=/var/lib/anamnesis \
    ANAMNESIS_API_HOST=0.0.0.0 \
    ANAMNESIS_CONSOLE_HOST=0.0.0.0 \
    ANAMNESIS_MODELS_DIR=/models \
    HF_HOME=/models
COPY --from=build /opt/venv /opt/venv
COPY --from=build /app /app
COPY evalruns/sets/ /app/evalruns/sets/
COPY evalruns/history/ /app/evalruns/history/
COPY .ci/entrypoint.sh /app/.ci/entrypoint.sh
# Last: of all that is in the image it changes most often.
COPY corpus/ /app/corpus/
WORKDIR /app
# By number, so that a cluster can see that it is not root.
USER 10001:10001
VOLUME ["/var/lib/anamnesis", "/models"]
EXPOSE 8710 8711
# The first start may have a whole corpus to embed.
HEALTHCHECK --interval=15s --timeout=5s --start-period=600s --retries=4 \
  CMD ["python", "-c", "import os, urllib.request as r; r.urlopen('http://127.0.0.1:%s/readyz' % (os.environ.get('ANAMNESIS_API_PORT') or 8710), timeout=4)"]
ENTRYPOINT ["sh", "/app/.ci/entrypoint.sh"]
CMD ["start"]
