import { beforeAll, describe, expect, it } from '@jest/globals';
import { ENDPOINTS } from '../../src/contracts/endpoints.js';
import { METRICS } from '../../src/platform/metrics/registry.js';
import { processTree } from '../support/process-tree.js';
import { type Product } from '../support/product.js';
import { embeddedProduct } from './products.js';

/** What we ship is wired: a part that is tested but never started is found here. */
describe('the built product after its start', () => {
  let product: Product;

  beforeAll(async () => {
    product = await embeddedProduct();
    await product.allReady();
    await product.until(
      'a batch processor',
      async () => (await health()).batch_processor.state === 'ready',
    );
  });

  const health = () => product.json<{ batch_processor: { state: string } }>('/health');

  it('has a running scheduler, a batch processor and a ready worker for every model', async () => {
    expect(await product.json('/health')).toMatchObject({
      status: 'ok',
      models: Array(4).fill(expect.objectContaining({ ready: true, workers: { ready: 1 } })),
    });
    expect(await product.json('/admin/v1/queue')).toMatchObject({ accepting: true });
  });

  it('names each of its processes for ps and top', () => {
    const names = processTree(product.gateway.process.child.pid).map(({ command }) => command);
    const workers = ['synthetic', 'voice', 'llm', 'vectors'].map(id => `switchyard worker ${id}`);
    expect(names).toEqual(
      expect.arrayContaining(['switchyard gateway', 'switchyard batch', ...workers]),
    );
  });

  it('serves an API page whose script uses nothing of the bundle', async () => {
    const { status, body } = await product.gateway.call('GET', '/docs/swagger-ui-init.js');
    expect([status, body.toString().includes('SwaggerUIBundle')]).toEqual([200, true]);
    expect(body.toString()).not.toContain('__name');
  });

  it('exports every metric of the registry, those of the batch processor included', async () => {
    const { body } = await product.gateway.call('GET', '/metrics');
    const exported = [...body.toString().matchAll(/^# TYPE (\w+)/gm)].map(([, name]) => name);
    expect(exported).toEqual(expect.arrayContaining(Object.keys(METRICS)));
  });

  it('counts the request in every histogram that it passed', async () => {
    const counts = async (): Promise<readonly number[]> => {
      const scrape = await product.gateway.scrape();
      return ['queue_wait_seconds', 'grpc_duration_seconds', 'batch_size'].map(name =>
        scrape.sum(`scheduler_${name}_count`),
      );
    };
    const before = await counts();
    await product.transcribe('one request through everything');
    expect(await counts()).toEqual(before.map(count => count + 1));
  });

  it.each(ENDPOINTS.filter(({ method, path }) => method === 'GET' && !path.includes('{')))(
    'answers $method $path',
    async ({ path }) => {
      expect((await fetch(product.url + path)).status).toBe(200);
    },
  );

  it('serves Swagger UI and a document that lists every endpoint', async () => {
    expect((await fetch(`${product.url}/docs`)).headers.get('content-type')).toContain('text/html');
    const { paths } = await product.json<{ paths: Record<string, object> }>('/docs-json');
    expect(Object.keys(paths)).toEqual(
      expect.arrayContaining([...new Set(ENDPOINTS.map(({ path }) => path))]),
    );
  });
});
