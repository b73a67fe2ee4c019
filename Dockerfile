# One image for every role: the command names it (start, api, jobs, voice).
FROM node:22.23.3-bookworm-slim AS installed
WORKDIR /patchbay
COPY package.json package-lock.json ./
COPY web/console/package.json ./web/console/
COPY scripts/install-scripts.ts ./scripts/
RUN npm ci --ignore-scripts --no-audit --no-fund && node scripts/install-scripts.ts

# The media worker of WebRTC, out of the sources of its npm package: some minutes, as long as its version stays.
FROM installed AS media
RUN apt-get update \
 && apt-get install -y --no-install-recommends \
      g++ make flatbuffers-compiler libflatbuffers-dev libssl-dev libuv1-dev libsrtp2-dev
COPY runtime ./runtime
COPY api/realtime/webrtc ./api/realtime/webrtc
COPY scripts/webrtc-peer.ts ./scripts/
COPY scripts/mediasoup-worker ./scripts/mediasoup-worker
RUN XDG_CACHE_HOME=/cache node scripts/mediasoup-worker/build.ts --jobs="$(nproc)" \
 && cp /cache/patchbay/mediasoup-worker/*/mediasoup-worker /mediasoup-worker

FROM installed AS packages
# The console and the client for pages are built here, with packages that the image itself has no use for.
COPY tsconfig.json ./
COPY web ./web
COPY packages ./packages
COPY scripts/build-web.ts ./scripts/
COPY scripts/web-built.ts ./scripts/
COPY scripts/pack-packages.ts ./scripts/
COPY runtime/process/packed-packages.ts ./runtime/process/
# The console offers their ready texts.
COPY runtime/conversation/languages ./runtime/conversation/languages
# Packed packages: what they save is in packed-packages.ts.
RUN node web/console/build.ts && node scripts/build-web.ts --types && node scripts/pack-packages.ts && npm prune --omit=dev --workspaces=false --ignore-scripts --no-audit --no-fund

FROM node:22.23.3-bookworm-slim
# redis-server and espeak-ng serve the embedded default; its PostgreSQL comes with the npm packages. The libraries are the media worker's.
RUN apt-get update \
 && apt-get install -y --no-install-recommends espeak-ng libsrtp2-1 libssl3 libuv1 redis-server tini \
 && rm -rf /var/lib/apt/lists/*
WORKDIR /patchbay
COPY --from=packages /patchbay/node_modules ./node_modules
COPY . .
COPY --from=packages /patchbay/packages/web/dist ./packages/web/dist
RUN node scripts/sdk/build.ts
COPY --from=media /mediasoup-worker ./node_modules/mediasoup/worker/out/Release/mediasoup-worker
# docker build --build-arg COMMIT=$(git rev-parse HEAD): what the image runs, for /health, the metrics and the console.
ARG COMMIT=unknown
RUN echo "$COMMIT" > COMMIT
RUN install -d -o node -g node -m 700 /data
# For jobs of CI: docs/agents/files.md.
RUN printf '#!/bin/sh\nexec sh /patchbay/scripts/main.sh "$@"\n' > /usr/local/bin/patchbay && chmod 755 /usr/local/bin/patchbay
USER node
ENV NODE_ENV=production PATCHBAY_DATA_DIR=/data
VOLUME /data
# HTTP, and the sound of web calls.
EXPOSE 8080 10080/udp 10080/tcp
# The api's port; the roles without one override this check (compose.yaml).
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT || 8080}/health`, { signal: AbortSignal.timeout(2500) }).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["tini", "--", "sh", "scripts/main.sh"]
CMD ["start"]
