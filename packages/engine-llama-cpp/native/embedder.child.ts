import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import {
  type EmbeddingInfo,
  type EmbeddingOperations,
  type EmbeddingSettings,
} from '../protocol.js';
import { openCLibrary } from './c-library.js';
import { EmbeddingModel } from './embedding-model.js';
import { openDevice } from './library.js';
import { type ChildService, serveChild } from './serve-child.js';

type Answers = {
  readonly [K in keyof EmbeddingOperations]: (
    request: EmbeddingOperations[K]['request'],
  ) => EmbeddingOperations[K]['reply'];
};

serveChild(open);

async function open(settings: EmbeddingSettings): Promise<ChildService<EmbeddingInfo>> {
  const { size } = await stat(settings.modelFile);
  const device = await openDevice(settings.device);
  const model = new EmbeddingModel(openCLibrary(), settings, device !== 'cpu');
  const answers: Answers = {
    tokenize: texts => texts.map(text => model.tokenize(text)),
    pairs: ({ query, documents }) => model.pairs(query, documents),
    embed: ({ tokens, counts }) => model.embed(tokens, counts),
  };
  // The first run of everything is slow.
  const probe = model.tokenize('a');
  model.embed(probe, [probe.length]);
  const { dimensions, vocabularySize, trainedContextTokens, description, ranks } = model;
  const revision = `${basename(settings.modelFile)} (${description}, ${size} bytes)`;
  return {
    info: { device, revision, dimensions, vocabularySize, trainedContextTokens, ranks },
    operations: answers,
  };
}
