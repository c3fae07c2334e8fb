import { createServer, type Server } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { ProcessClock } from '../../../platform/clock/process-clock.js';
import { settingsFrom } from '../../../platform/config/settings.js';
import { listeningUrl } from '../../../platform/http/connections.js';
import { PrometheusAlerts } from './prometheus-alerts.js';

const SINCE = '2026-01-02T03:04:05Z';
const alert = (fields: object = {}, labels: object = {}, annotations: object = {}) => ({
  state: 'firing',
  activeAt: SINCE,
  labels: { alertname: 'Slow', ...labels },
  annotations,
  ...fields,
});
const shown = (fields: object = {}) => ({
  name: 'Slow',
  state: 'firing',
  since: Date.parse(SINCE) / 1000,
  ...fields,
});

describe('the alerts of Prometheus', () => {
  let server: Server;
  let answer: unknown;
  let paths: (string | undefined)[];
  let nowMs: number;

  beforeEach(async () => {
    [paths, nowMs] = [[], 0];
    server = createServer(({ url }, response) => {
      paths.push(url);
      response.end(JSON.stringify(answer));
    });
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  });
  afterEach(() => {
    server.closeAllConnections();
    server.close();
  });

  const alerts = (url = `${listeningUrl(server)}/prometheus//`): PrometheusAlerts =>
    new PrometheusAlerts(
      settingsFrom({ 'console.prometheus_url': url }),
      Object.assign(new ProcessClock(), { nowMs: () => nowMs }),
    );
  const read = (given: unknown) => {
    answer = given;
    return alerts().current();
  };
  const listed = async (...given: unknown[]) => (await read({ data: { alerts: given } })).data;

  it('are none without its URL', async () => {
    const none = alerts('');
    expect([none.configured, await none.current(), paths]).toEqual([false, { data: [] }, []]);
    expect(alerts().configured).toBe(true);
  });

  it('are asked for once in five seconds, below the path of the URL', async () => {
    const kept = alerts();
    answer = { data: { alerts: [alert()] } };
    for (nowMs of [0, 4999]) expect(await kept.current()).toMatchObject({ data: [shown()] });
    expect(paths).toEqual(['/prometheus/api/v1/alerts']);
    answer = { data: { alerts: [] } };
    nowMs = 5000;
    expect([await kept.current(), paths.length]).toEqual([{ data: [] }, 2]);
  });

  it('come with those that fire first, then by name, 100 at most', async () => {
    const named = (alertname: string, state: string) => alert({ state }, { alertname });
    const given = [named('a', 'pending'), named('c', 'firing'), named('b', 'firing')];
    expect((await listed(...given)).map(({ name }) => name)).toEqual(['b', 'c', 'a']);
    expect(await listed(...Array.from({ length: 101 }, () => alert()))).toHaveLength(100);
  });

  it.each([
    ['another state', { state: 'inactive' }],
    ['no time', { activeAt: 'soon' }],
    ['no labels', { labels: undefined }],
    ['a name that is no text', { labels: { alertname: 7 } }],
  ])('leave out one with %s', async (_, fields) => {
    expect(await listed(alert(fields), 'text', alert())).toEqual([shown()]);
  });

  it('have texts of 500 characters at most, and links to the web or the documents', async () => {
    const all = (summary: string, url: string) =>
      alert({}, { severity: 'page' }, { summary, runbook_url: url });
    const links = ['https://a.b', 'docs/a.md', 'javascript:alert()'];
    expect(await listed(...links.map(url => all('s'.repeat(501), url)), all('', ''))).toEqual([
      ...[...links.slice(0, 2), undefined].map(url =>
        shown({ severity: 'page', summary: 's'.repeat(500), runbook_url: url }),
      ),
      shown({ severity: 'page' }),
    ]);
  });

  it.each([[[]], [{}], [{ data: [] }], [{ data: { alerts: {} } }]])(
    'are none, with a problem, for the answer %j',
    async given => {
      const problem = '`console.prometheus_url` answered with something other than alerts.';
      expect(await read(given)).toEqual({ data: [], problem });
    },
  );

  it('name the setting when nothing answers', async () => {
    const { data, problem } = await alerts('http://127.0.0.1:1').current();
    expect([data, problem?.includes('file_url')]).toEqual([[], false]);
    expect(problem).toBeDefined();
  });
});
