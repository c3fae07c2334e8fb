import { describe, expect, it } from '@jest/globals';
import { bytesOfSize, sizeText } from './devices.js';
import { modelsFromFile } from './models-file.js';
import { parseYaml } from './yaml-file.js';

const GIB = 2 ** 30;
const DEVICES = 'devices:\n  - { id: gpu0, memory: 12GiB, reserve: 0.5GiB }\n';
const model = (id: string, fields: string) =>
  `  - { id: ${id}, kind: stt, engine: synthetic, capabilities: [transcribe], ${fields} }\n`;
const read = (text: string) => modelsFromFile(parseYaml(text, 'models.yaml'));
const brief = (text: string) =>
  read(text).problems.map(({ path, message }) => `${path} ${message}`);
const inFile = (...models: string[]) => `${DEVICES}models:\n${models.join('')}`;

describe('devices of the models file', () => {
  it('reads sizes in binary and decimal units', () => {
    expect(['12GiB', '0.5 GiB', '700MB', '1TiB'].map(bytesOfSize)).toEqual([
      12 * GIB,
      GIB / 2,
      700_000_000,
      1024 * GIB,
    ]);
  });

  it('gives a model its device, less what is in reserve, and its sizes in bytes', () => {
    const text = inFile(model('m', 'device: gpu0, memory: 7GiB, pin: true, min_residence_s: 30'));
    expect(read(text)).toMatchObject({
      problems: [],
      models: [
        {
          device: [{ id: 'gpu0', memory: 11.5 * GIB, reserve: GIB / 2 }],
          ...{ memory: 7 * GIB, pin: true, minResidenceS: 30 },
        },
      ],
    });
  });

  it('takes the memory of the machine where none is declared', () => {
    const text = `devices: [{ id: ram }]\nmodels:\n${model('m', 'device: ram')}`;
    expect(read(text).models[0]?.device?.[0]?.memory).toBeGreaterThan(GIB / 4);
  });

  it.each([
    [
      'a device that is not listed',
      inFile(model('m', 'device: gpu1')),
      'models[0].device is none of gpu0',
    ],
    [
      'a device without a list',
      `models:\n${model('m', 'device: gpu1')}`,
      'models[0].device needs `devices:`',
    ],
    [
      'memory without a device',
      inFile(model('m', 'memory: 1GiB')),
      'models[0].memory only models with a `device`',
    ],
    [
      'a model that is too large, with the sum',
      inFile(model('m', 'device: gpu0, memory: 12GiB')),
      'models[0].memory 12 GiB does not fit: gpu0 has 11.5 GiB (12 GiB less 0.5 GiB in reserve)',
    ],
    [
      'a pin of unknown size',
      inFile(model('m', 'device: gpu0, pin: true')),
      'models[0].pin needs `memory`',
    ],
    [
      'a start at boot',
      inFile(model('m', 'device: gpu0, autostart: always')),
      'models[0].autostart a model on a device',
    ],
    [
      'remote workers',
      inFile(model('m', 'device: gpu0, addresses: ["a:1"]')),
      'models[0].device only local workers',
    ],
    [
      'several devices that engines cannot tell apart',
      `devices: [{ id: a, memory: 1GiB }, { id: b, memory: 1GiB }]\nmodels:\n${model('m', 'device: [a, b]')}`,
      'models[0].device of several devices, each needs `as`',
    ],
    ['what is no list', 'devices: gpu0\nmodels: []\n', 'devices must be a list'],
    ['a device that is only named', 'devices: [gpu0]\nmodels: []\n', 'devices[0] must be a device'],
    [
      'a size without a unit',
      inFile(model('m', 'device: gpu0, memory: 7')),
      'models[0].memory must be a size such as 12GiB',
    ],
    [
      'a reserve of everything',
      `devices: [{ id: a, memory: 1GiB, reserve: 1GiB }]\nmodels: []\n`,
      'devices[0].reserve must be less than 1 GiB',
    ],
    [
      'the same name twice',
      'devices: [{ id: a, memory: 1GiB }, { id: a, memory: 1GiB }]\nmodels: []\n',
      'devices[1].id names another device already',
    ],
  ])('rejects %s', (_, text, problem) => {
    expect(brief(text)).toEqual([expect.stringContaining(problem)]);
  });

  const pin = (id: string, memory: string, device = 'gpu0') =>
    model(id, `device: ${device}, memory: ${memory}, pin: true`);

  it('rejects what does not fit beside the pinned models, with the sum', () => {
    const pinned = [pin('b', '6GiB'), pin('a', '7GiB')];
    const usable = 'gpu0 has 11.5 GiB (12 GiB less 0.5 GiB in reserve)';
    expect(brief(inFile(...pinned, model('c', 'device: gpu0, memory: 5GiB')))).toEqual([
      `models[0].memory 6 GiB + a 7 GiB (pinned) = 13 GiB does not fit: ${usable}`,
      `models[2].memory 5 GiB + a 7 GiB (pinned) = 12 GiB does not fit: ${usable}`,
    ]);
    expect(brief(inFile(...pinned.slice(1), model('c', 'device: gpu0, memory: 4GiB')))).toEqual([]);
  });

  it('rejects a model of unknown size where pinned ones fill the device', () => {
    const undeclared = model('m', 'device: gpu0');
    expect(brief(inFile(pin('a', '11.5GiB'), undeclared))).toEqual([
      expect.stringContaining(
        'models[1].memory no room is left beside a 11.5 GiB (pinned): gpu0 has 11.5 GiB',
      ),
    ]);
    expect(brief(inFile(pin('a', '11GiB'), undeclared))).toEqual([]);
  });

  it('adds up pinned models that may be on several devices, each where it would be', () => {
    const two = ['a', 'b'].map((id, at) => `{ id: ${id}, memory: 10GiB, as: "cuda:${at}" }`);
    const on = (...models: string[]) => `devices: [${two.join()}]\nmodels:\n${models.join('')}`;
    const either = ['p', 'q', 'r'].map(id => pin(id, '8GiB', '[a, b]'));
    expect(brief(on(...either.slice(1)))).toEqual([]);
    expect(brief(on(...either))).toEqual([
      'models[2].memory 8 GiB + p 8 GiB (pinned) = 16 GiB does not fit: a has 10 GiB; ' +
        '8 GiB + q 8 GiB (pinned) = 16 GiB does not fit: b has 10 GiB',
    ]);
    expect(brief(on(pin('p', '4GiB', '[a, b]'), pin('q', '8GiB', 'a')))).toEqual([]);
  });
});

describe('sizeText', () => {
  it.each([
    [200 * 2 ** 20, '200 MiB'],
    [2 ** 28 - 1, '256 MiB'],
    [2 ** 28, '0.25 GiB'],
    [11.5 * 2 ** 30, '11.5 GiB'],
  ])('of %i bytes is %s', (bytes, text) => {
    expect(sizeText(bytes)).toBe(text);
  });
});
