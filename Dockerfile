# pixhistd and pixhist-player. docs/deployment.md says how to build and run it.
#   with CUDA:  docker build -t pixhist .
#   CPU only:   docker build -t pixhist:cpu --build-arg BUILD_IMAGE=ubuntu:24.04 \
#                 --build-arg RUNTIME_IMAGE=ubuntu:24.04 --build-arg PIXHIST_CUDA=OFF .
# Both images must be of one distribution and release, Debian 12 or Ubuntu 24.04: the libraries of the one are what
# the program of the other was linked with.
ARG BUILD_IMAGE=nvidia/cuda:13.0.2-devel-ubuntu24.04
ARG RUNTIME_IMAGE=nvidia/cuda:13.0.2-base-ubuntu24.04

FROM ${BUILD_IMAGE} AS build
WORKDIR /src
COPY deploy/install-dependencies deploy/
RUN deploy/install-dependencies --build
COPY CMakeLists.txt ./
COPY cmake cmake/
COPY core core/
COPY proto proto/
COPY service service/
COPY tools tools/
# ON: a build image without nvcc is an error, never a silent build for the CPU.
ARG PIXHIST_CUDA=ON
ARG JOBS
RUN cmake -S . -B /build -G Ninja -DCMAKE_BUILD_TYPE=Release -DPIXHIST_CUDA="${PIXHIST_CUDA}" \
      -DCMAKE_CUDA_RUNTIME_LIBRARY=Static -DPIXHIST_TESTS=OFF \
      -DCMAKE_CXX_COMPILER_LAUNCHER=ccache -DCMAKE_CUDA_COMPILER_LAUNCHER=ccache \
 && cmake --build /build --parallel ${JOBS:+"${JOBS}"} --target pixhistd pixhist-player \
 && mkdir /out && strip -o /out/pixhistd /build/service/pixhistd \
 && strip -o /out/pixhist-player /build/tools/player/pixhist-player

FROM ${RUNTIME_IMAGE} AS runtime
# The release of the base image pins the versions; its updates are wanted.
# hadolint ignore=DL3008
RUN apt-get update \
 && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \
      libcivetweb1 libfmt9 libprometheus-cpp-core1.0 libzmq5 \
 && rm -rf /var/lib/apt/lists/* /var/cache/apt/archives/*.deb \
 && groupadd --gid 10001 pixhist \
 && useradd --uid 10001 --gid 10001 --no-create-home --home-dir /nonexistent --shell /usr/sbin/nologin pixhist
COPY --from=build /out/pixhistd /out/pixhist-player /usr/local/bin/
# Fails here, not on the node, where a library is missing.
RUN pixhistd --version && pixhist-player --help >/dev/null

ARG VERSION=0.1.0
ARG REVISION=unknown
LABEL org.opencontainers.image.title="pixhist" \
      org.opencontainers.image.description="Per-pixel histograms of detector frames taken off ZeroMQ" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"

# What the NVIDIA container toolkit is to bring in; nothing on a node without it.
ENV NVIDIA_DRIVER_CAPABILITIES=compute,utility
# By number, so that Kubernetes can see that it is not root.
USER 10001:10001
# 5556: queries, 9717: HTTP. Data ports are the configuration's.
EXPOSE 5556 9717
# Of the port in http.listen; every answer takes 5 s at most.
HEALTHCHECK --interval=15s --timeout=6s --start-period=120s --retries=3 \
  CMD ["/usr/local/bin/pixhistd", "--health", "http://127.0.0.1:9717/healthz"]
ENTRYPOINT ["/usr/local/bin/pixhistd"]
# The image brings no configuration: mount one, in which query.endpoint and http.listen are on 0.0.0.0.
CMD ["--config", "/etc/pixhist/config.json"]
