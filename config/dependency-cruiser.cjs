const { globSync, readFileSync } = require('node:fs');
const { dirname } = require('node:path');

/** The way of a request through the gateway, from below: each imports only those before it. */
const requestPath = [
  'worker-pool',
  'latency',
  'devices',
  'registry',
  'shared-queue',
  'queue',
  'cancellation',
  'scheduler',
  'lifecycle',
];
/** What each folder of the gateway may import, besides itself. */
const gatewayLayers = [
  ...requestPath.map((name, at) => [name, requestPath.slice(0, at)]),
  ['http', []],
  ['written-form', []],
  ['limits', ['http', ...requestPath]],
  ['websockets', ['http']],
  ['models', ['http', ...requestPath]],
  ['inference', ['http', 'models', ...requestPath]],
  ['audio', ['http', 'models', 'inference', 'written-form', ...requestPath]],
  ['text', ['http', 'models', 'inference', ...requestPath]],
  [
    'responses',
    [
      'http',
      'models',
      'inference',
      'text',
      'requests',
      'stored-work',
      'limits',
      'websockets',
      ...requestPath,
    ],
  ],
  ['stored-work', requestPath],
  ['requests', ['http', 'inference', 'limits', 'stored-work', ...requestPath]],
  ['health', ['http', 'models', 'jobs', ...requestPath]],
  [
    'admin',
    ['http', 'models', 'requests', 'stored-work', 'health', 'jobs', 'realtime', ...requestPath],
  ],
  [
    'realtime',
    [
      'http',
      'models',
      'inference',
      'audio',
      'limits',
      'written-form',
      'websockets',
      ...requestPath,
    ],
  ],
  ['live-feed', ['http', 'websockets', ...requestPath]],
  ['jobs', ['http']],
];
const readmes = globSync('{src,packages}/**/README.md', {
  exclude: name => name === 'node_modules',
});
/**
 * Folders whose README says what others may import of them, with these files.
 * "Every file" needs no rule; any other text that is no list is a mistake.
 */
const faces = readmes.flatMap(readme => {
  const [, text] = /may\s+import:\s+(.+?)\.\s/s.exec(readFileSync(readme, 'utf8')) ?? [];
  if (text === undefined || text === 'every file') return [];
  if (!/^(`[\w./-]+`(,\s+)?)+$/.test(text)) throw new Error(`${readme} lists no files: ${text}`);
  return [[dirname(readme), text.match(/[\w./-]+/g)]];
});
/** The layers of the batch processor. */
const batchLayers = [
  ['lease', []],
  ['observe', []],
  ['job', ['lease', 'observe']],
  ...['ingest', 'execute', 'finalize'].map(name => [name, ['job', 'lease', 'observe']]),
  ['runner', ['ingest', 'execute', 'finalize', 'job', 'lease', 'observe']],
];
/** The same of the worker. Subfolders of engines: one of each engine. */
const workerLayers = [
  ['lifecycle', []],
  ['audio', []],
  ['engines', ['audio']],
  ['execution', ['engines', 'audio', 'lifecycle']],
  ['generation', ['engines', 'lifecycle']],
  ['grpc', ['execution', 'generation', 'engines', 'audio', 'lifecycle']],
  ['pull', ['execution', 'engines', 'audio', 'lifecycle']],
];
const coreSiblings = ['queue', 'batching'];
/** Of core: what any folder of it may import. */
const coreLeaves = 'errors|latency|order|request';

/** The directions of the architecture (docs/explain/architecture.md), executable. */
module.exports = {
  forbidden: [
    { name: 'no-cycles', from: {}, to: { circular: true } },
    {
      name: 'folders-have-one-direction',
      comment: 'Sibling folders; test/architecture/names.spec.ts checks each pair.',
      scope: 'folder',
      from: { path: '^(src|packages)/' },
      to: { path: '^(src|packages)/', circular: true },
    },
    { name: 'no-barrels', from: {}, to: { path: '^(src|packages)/.*/index\\.ts$' } },
    {
      name: 'packages-import-engine-api-and-libraries',
      from: { path: '^packages/([^/]+)/', pathNot: '\\.spec\\.ts$' },
      to: {
        path: '^(src|test|scripts|packages)/',
        pathNot: '^packages/($1|engine-api|json-schema-gbnf|worker-protocol)/',
      },
    },
    {
      name: 'bullmq-in-shared-queue-only',
      comment: 'What BullMQ keeps in Redis is known there; its README lists what is private of it.',
      from: { path: '^(src|packages)/', pathNot: ['^packages/shared-queue/', '\\.spec\\.ts$'] },
      to: { path: '^node_modules/bullmq/' },
    },
    {
      name: 'shared-queue-has-two-adapters',
      comment: 'One in gateways, one in workers; the rest knows keys and messages at most.',
      from: {
        path: '^src/',
        pathNot: ['^src/(gateway/shared-queue|worker/pull)/', '\\.spec\\.ts$'],
      },
      to: { path: '^packages/shared-queue/(client|worker|order)/' },
    },
    {
      name: 'engines-know-no-protocol',
      from: { path: '^packages/engine-' },
      to: { path: '^packages/worker-protocol/' },
    },
    {
      name: 'worker-check-is-a-command',
      comment: 'Who writes a worker calls it; the product does not need it.',
      from: { path: '^(src|packages)/', pathNot: '^(src/cli/|packages/worker-check/)' },
      to: { path: '^packages/worker-check/' },
    },
    {
      name: 'libraries-import-nothing',
      comment: 'But what keeps the digits of numbers in JSON, which imports nothing.',
      from: { path: '^packages/(json-schema-gbnf|itn-en)/', pathNot: '\\.spec\\.ts$' },
      to: { pathNot: '^packages/($1/|engine-api/exact-numbers\\.ts$)' },
    },
    {
      name: 'core-is-pure',
      comment:
        'core imports rxjs, itself and the pure part of engine-api: no Nest, gRPC, Fastify, Node modules.',
      from: {
        path: '^(src/core/|packages/engine-api/[^/]+$)',
        pathNot: '\\.spec\\.ts$',
      },
      to: {
        pathNot: ['^src/core/', '^packages/engine-api/[^/]+$', '^node_modules/(rxjs|zod)/'],
      },
    },
    {
      name: 'engines-are-loaded-by-name',
      comment:
        'load-package.ts loads them when a model asks for them; types are free, and the command line finds and opens libraries.',
      from: { path: '^src/', pathNot: '\\.spec\\.ts$' },
      to: {
        path: '^packages/engine-(?!api/)',
        pathNot: '^packages/engine-llama-cpp/binaries\\.ts$',
        dependencyTypesNot: ['type-only'],
      },
    },
    ...coreSiblings.map(name => ({
      name: `core-${name}-meets-no-sibling`,
      from: { path: `^src/core/${name}/`, pathNot: '\\.spec\\.ts$' },
      to: {
        path: '^src/core/',
        pathNot: [`^src/core/${name}/`, `^src/core/(${coreLeaves})/`],
      },
    })),
    {
      name: 'core-leaves-import-leaves-only',
      from: { path: `^src/core/(${coreLeaves})/`, pathNot: '\\.spec\\.ts$' },
      to: { path: '^src/core/', pathNot: `^src/core/(${coreLeaves})/` },
    },
    {
      name: 'contracts-import-core-only',
      from: { path: '^src/contracts/' },
      to: { path: '^src/', pathNot: ['^src/contracts/', '^src/core/'] },
    },
    {
      name: 'platform-imports-core-and-contracts',
      from: { path: '^src/platform/' },
      to: {
        path: '^src/',
        pathNot: ['^src/platform/', '^src/core/', '^src/contracts/'],
      },
    },
    {
      name: 'areas-never-import-one-another',
      from: { path: '^src/(gateway|worker|batch)/' },
      to: { path: '^src/(gateway|worker|batch)/', pathNot: '^src/$1/' },
    },
    {
      name: 'cli-talks-over-the-wire',
      comment:
        'To gateways by HTTP, to workers by gRPC; src/main.cli.ts joins it with what the engines say about models.',
      from: { path: '^src/cli/', pathNot: '\\.spec\\.ts$' },
      to: { path: '^src/(gateway|worker|batch|bridge|main\\.)' },
    },
    {
      name: 'cli-is-a-program',
      from: { path: '^src/', pathNot: ['^src/cli/', '^src/main\\.(cli|scripts)\\.ts$'] },
      to: { path: '^src/cli/' },
    },
    {
      name: 'scripts-ask-main-scripts',
      comment: 'The manual is made of the sources; other scripts run what is built.',
      from: { path: '^scripts/', pathNot: '^scripts/docs/' },
      to: { path: '^src/cli/' },
    },
    {
      name: 'bridge-joins-worker-client-and-worker',
      comment:
        'A worker process in front of another worker: the client of a worker, and what a worker consists of.',
      from: { path: '^src/bridge/' },
      to: { path: '^src/(gateway|batch|cli)/' },
    },
    {
      name: 'worker-client-is-of-gateway-and-bridge',
      from: { path: '^src/', pathNot: ['^src/(worker-client|gateway|bridge)/', '\\.spec\\.ts$'] },
      to: { path: '^src/worker-client/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'worker-client-knows-no-area',
      from: { path: '^src/worker-client/', pathNot: '\\.spec\\.ts$' },
      to: { path: '^src/(gateway|worker|batch|bridge|cli)/' },
    },
    {
      name: 'bridge-is-started-by-the-worker-program',
      from: { path: '^src/', pathNot: ['^src/bridge/', '^src/main\\.worker\\.ts$'] },
      to: { path: '^src/bridge/' },
    },
    ...gatewayLayers.map(([name, below]) => ({
      name: `gateway-${name}-imports-lower-folders-only`,
      from: { path: `^src/gateway/${name}/`, pathNot: '\\.spec\\.ts$' },
      to: {
        path: '^src/gateway/',
        pathNot: `^src/gateway/(${[name, ...below].join('|')})/`,
      },
    })),
    {
      name: 'stored-work-owns-its-table',
      comment: 'Garbage collection asks it which bytes are still named.',
      from: {
        path: '^src/gateway/',
        pathNot: ['^src/gateway/(stored-work/|jobs/garbage-collector)', '\\.spec\\.ts$'],
      },
      to: { path: '^src/platform/database/stored-request-store' },
    },
    {
      name: 'responses-stored-owns-its-tables',
      from: {
        path: '^src/gateway/responses/',
        pathNot: ['^src/gateway/responses/(stored/|responses\\.module)', '\\.spec\\.ts$'],
      },
      to: { path: '^src/platform/database/' },
    },
    ...faces.map(([folder, files]) => ({
      name: `${folder.replace('src/', '').replaceAll('/', '-')}-has-a-face`,
      from: { path: '^(src|packages|scripts)/', pathNot: [`^${folder}/`, '\\.spec\\.ts$'] },
      to: { path: `^${folder}/`, pathNot: `^${folder}/(${files.join('|')})\\.ts$` },
    })),
    ...batchLayers.map(([name, below]) => ({
      name: `batch-${name}-imports-lower-folders-only`,
      from: { path: `^src/batch/${name}/`, pathNot: '\\.spec\\.ts$' },
      to: {
        path: '^src/batch/',
        pathNot: `^src/batch/(${[name, ...below].join('|')})/`,
      },
    })),
    ...workerLayers.map(([name, below]) => ({
      name: `worker-${name}-imports-lower-folders-only`,
      from: { path: `^src/worker/${name}/`, pathNot: '\\.spec\\.ts$' },
      to: {
        path: '^src/worker/',
        pathNot: `^src/worker/(${[name, ...below].join('|')})/`,
      },
    })),
    {
      name: 'worker-engines-import-no-sibling',
      from: { path: '^src/worker/engines/([^/]+)/' },
      to: { path: '^src/worker/engines/[^/]+/', pathNot: '^src/worker/engines/$1/' },
    },
    {
      name: 'prom-client-in-metrics-files-only',
      from: {
        path: '^src/',
        pathNot: ['\\.metrics\\.ts$', '\\.spec\\.ts$', '^src/platform/metrics/'],
      },
      to: {
        path: ['node_modules/prom-client/', 'node_modules/@willsoto/nestjs-prometheus/'],
      },
    },
    {
      name: 'generated-code-through-codecs-only',
      from: {
        path: '^(src|packages)/',
        pathNot: ['\\.codec\\.ts$', '^packages/worker-protocol/generated/', '\\.spec\\.ts$'],
      },
      to: { path: '^packages/worker-protocol/generated/' },
    },
  ].map(rule => ({ severity: 'error', ...rule })),
  options: {
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^(dist|test)/' },
  },
};
