import { describe, expect, it, jest } from '@jest/globals';
import { register } from 'prom-client';
import { freePort } from '../../../test/support/free-port.js';
import { counterMetric } from './metric-provider.js';
import {
  allMetricsText,
  mergedMetrics,
  METRICS_CONTENT_TYPE,
  ownMetricsText,
  serveMetrics,
} from './metrics-server.js';

const FAMILY = '# HELP a_total What a is.\n# TYPE a_total counter';

describe('mergedMetrics', () => {
  it('makes one family of a metric that two processes have, and keeps all others', () => {
    const own = `${FAMILY}\na_total{who="x"} 1\na_total{who="y"} 2\n\n# HELP b B.\n# TYPE b gauge\nb 3\n`;
    const other = `${FAMILY}\na_total{who="z"} 4\n\n# HELP c C.\n# TYPE c gauge\n`;
    expect(mergedMetrics([own, other])).toBe(
      `${FAMILY}\na_total{who="x"} 1\na_total{who="y"} 2\na_total{who="z"} 4\n\n` +
        `# HELP b B.\n# TYPE b gauge\nb 3\n\n# HELP c C.\n# TYPE c gauge\n`,
    );
  });

  it('is the one text there is when the other process does not answer', () => {
    expect(mergedMetrics([`${FAMILY}\na_total 1\n`, ''])).toBe(`${FAMILY}\na_total 1\n`);
  });
});

describe('the server of metrics', () => {
  it('answers GET /metrics alone, until it is closed', async () => {
    const port = await freePort();
    const close = await serveMetrics(port, '127.0.0.1');
    const ask = (path: string, method = 'GET') =>
      fetch(`http://127.0.0.1:${port}${path}`, { method });
    for (let times = 0; times < 2; times++) {
      const answer = await ask('/metrics');
      expect([answer.status, answer.headers.get('content-type')]).toEqual([
        ...[200, METRICS_CONTENT_TYPE],
      ]);
      expect(await answer.text()).toContain('\nprocess_cpu_seconds_total ');
    }
    expect([(await ask('/')).status, (await ask('/metrics', 'POST')).status]).toEqual([404, 404]);
    const metrics = jest.spyOn(register, 'metrics').mockRejectedValue(new Error('broken'));
    expect((await ask('/metrics')).status).toBe(500);
    metrics.mockRestore();
    await expect(serveMetrics(port, '127.0.0.1')).rejects.toMatchObject({ code: 'EADDRINUSE' });
    await close();
    await expect(ask('/metrics')).rejects.toThrow();
  });

  it('has the metrics of the table apart from those of the process', async () => {
    counterMetric('file_storage_operations_total');
    await allMetricsText();
    const own = await ownMetricsText();
    expect(own).toContain('# TYPE file_storage_operations_total counter');
    expect(own).not.toContain('process_cpu_seconds_total');
  });
});
