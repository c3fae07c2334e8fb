/**
 * Where the contracts and benches of engines compute: `cpu`, or what `npm run bench --
 * gpu` found (`cuda`).
 */
export const ENGINE_DEVICE = process.env.ENGINE_DEVICE ?? 'cpu';
