import { join } from 'node:path'
import tailwindcss from '@tailwindcss/vite'
import type { UserConfig } from 'vite'

/** The console lives under /console/ on the instance that serves it; its name and the address / both lead there. */
export default {
  root: import.meta.dirname,
  base: '/console/',
  publicDir: join(import.meta.dirname, 'public'),
  plugins: [tailwindcss()],
  // The worklet of the call library is a file beside the others: pages of this policy run no script out of a blob.
  define: { WORKLET_SOURCE: '""', CLIENT_PATH: '""' },
  build: {
    target: 'es2022',
    assetsDir: 'assets',
    // Data addresses would ask for exceptions in the Content-Security-Policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
  // While the console is worked on: `npx vite web/console` beside a running instance.
  server: { proxy: { '^/(?!console/)': { target: 'http://localhost:8080', ws: true } } },
} satisfies UserConfig
