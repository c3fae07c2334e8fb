import { defineConfig } from 'vite';

/**
 * Served below /console with a policy that allows neither inline code nor other hosts.
 */
export default defineConfig({
  base: '/console/',
  build: {
    target: 'es2022',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: true,
  },
  server: {
    proxy: Object.fromEntries(
      ['/v1', '/admin', '/health', '/console/session', '/events'].map(path => [
        path,
        {
          target: process.env.SWITCHYARD_URL ?? 'http://127.0.0.1:8000',
          ws: true,
          changeOrigin: true,
        },
      ]),
    ),
  },
});
