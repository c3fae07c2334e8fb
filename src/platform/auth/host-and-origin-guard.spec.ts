import { describe, expect, it } from '@jest/globals';
import { type SettingPath, settingsFrom } from '../config/settings.js';
import { type KeyStore } from '../database/key-store.js';
import { OriginGuard } from './host-and-origin-guard.js';
import { KeyRing } from './key-ring.js';
import { StoredKeys } from './stored-keys.js';

type Headers = Record<string, string>;
const OWN = '127.0.0.1:8000';
const cors = 'https://app.example.com';

const guard = (values: Partial<Record<SettingPath, string | boolean>> = {}, keyless = true) =>
  new OriginGuard(
    new KeyRing(settingsFrom({ 'auth.required': !keyless }), new StoredKeys({} as KeyStore)),
    settingsFrom({ 'server.cors_origins': cors, ...values }),
  );

/** `ok`, or the code of the refusal. */
const codeOf = (demand: () => void) => {
  try {
    demand();
    return 'ok';
  } catch (error) {
    return (error as { code: string }).code;
  }
};
const post = (headers: Headers, by = guard()) =>
  codeOf(() => by.demandRequest('POST', { host: OWN, ...headers }));
const get = (headers: Headers, by = guard()) =>
  codeOf(() => by.demandRequest('GET', { host: OWN, ...headers }));
const upgrade = (headers: Headers, by = guard()) =>
  codeOf(() => by.demandUpgrade({ host: OWN, ...headers }));

describe('without keys', () => {
  it.each([OWN, 'localhost', 'LocalHost:1', '[::1]:8000', '127.3.2.1'])(
    'the Host %s is served',
    host => {
      expect([get({ host }), post({ host }), upgrade({ host })]).toEqual(['ok', 'ok', 'ok']);
    },
  );

  it.each([
    'evil.example',
    '127.evil.com:8000',
    'localhost.evil.com',
    '10.0.0.1:8000',
    '',
    'a@127.0.0.1',
    '[::1',
  ])('the Host %j is not, with its own Origin neither', host => {
    const headers = { host, origin: `http://${host}` };
    expect([get(headers), post(headers), upgrade(headers)]).toEqual(
      Array(3).fill('host_not_allowed'),
    );
  });

  it('hosts of `server.allowed_hosts`, the one it listens on, and for anonymous callers any address are served', () => {
    const named = guard({
      'server.allowed_hosts': 'gateway.lan, fd00::1',
      'server.host': '10.0.0.5',
    });
    const hosts = ['GATEWAY.lan:80', '[fd00::1]:8000', '10.0.0.5:8000', '10.0.0.6'];
    expect(hosts.map(host => get({ host }, named))).toEqual(['ok', 'ok', 'ok', 'host_not_allowed']);
    const open = guard({ 'auth.allow_anonymous': true });
    expect(['10.0.0.6:80', '[fd00::2]', 'evil.example'].map(host => get({ host }, open))).toEqual([
      'ok',
      'ok',
      'host_not_allowed',
    ]);
    expect(get({ host: 'anything' }, guard({ 'server.allowed_hosts': '*' }))).toBe('ok');
  });

  it.each([
    'https://evil.example',
    'null',
    'http://127.0.0.1:8001',
    'http://localhost:8000',
    'app://127.0.0.1:8000',
    'nonsense',
  ])('the Origin %s changes nothing and opens no socket', origin => {
    expect([get({ origin }), post({ origin }), upgrade({ origin })]).toEqual([
      'ok',
      'origin_not_allowed',
      'origin_not_allowed',
    ]);
  });

  it.each([{}, { origin: `http://${OWN}` }, { origin: cors, 'sec-fetch-site': 'cross-site' }])(
    'programs, own pages and `server.cors_origins` may: %j',
    headers => {
      expect([post(headers as Headers), upgrade(headers as Headers)]).toEqual(['ok', 'ok']);
    },
  );

  it('Sec-Fetch-Site decides where a browser sends no Origin', () => {
    const sites = ['same-origin', 'none', 'same-site', 'cross-site'];
    expect(sites.map(site => post({ 'sec-fetch-site': site }))).toEqual([
      'ok',
      'ok',
      'origin_not_allowed',
      'origin_not_allowed',
    ]);
  });
});

describe('with keys', () => {
  const keyed = guard({}, false);

  it('any Host is served, and the key decides about requests', () => {
    expect(post({ host: 'gateway.lan', origin: 'https://evil.example' }, keyed)).toBe('ok');
  });

  it('sockets are opened by programs, own pages and allowed origins only', () => {
    const origins = ['https://gateway.lan', cors, 'https://evil.example', 'null'];
    expect(origins.map(origin => upgrade({ host: 'gateway.lan', origin }, keyed))).toEqual([
      'ok',
      'ok',
      'origin_not_allowed',
      'origin_not_allowed',
    ]);
  });
});
