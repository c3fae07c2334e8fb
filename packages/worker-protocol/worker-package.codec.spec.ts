import { join } from 'node:path';
import { credentials } from '@grpc/grpc-js';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Controller, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { GrpcMethod, type MicroserviceOptions, Transport } from '@nestjs/microservices';
import { PLAIN_TRANSCRIPTION } from '@switchyard/engine-api/speech-recognizer.js';
import { RequestPriority } from '../../src/core/request/request-priority.js';
import { temporaryFolder } from '../../test/support/temporary-folder.js';
import {
  encodeEmbedded,
  type EmbedRequest,
  type EmbedResponse,
  encodeEmbedCall,
  TextGenerationStub,
} from './generation.codec.js';
import { HealthStub, SERVING, type HealthCheckResponse } from './health.codec.js';
import {
  encodeTranscribeCall,
  encodeTranscript,
  SpeechToTextStub,
  type TranscribeFileRequest,
  type TranscribeFileResponse,
} from './stt.codec.js';
import { WORKER_PACKAGES, workerPackageDefinition } from './worker-package.codec.js';

const NOTHING = { prepMs: 0, readyWaitMs: 0, deviceMs: 0, batchSize: 1, batchId: '' };
const ENVELOPE = {
  requestId: 'r',
  priority: RequestPriority.REALTIME,
  group: { id: 'g', size: 1 },
};

@Controller()
class EchoController {
  @GrpcMethod('SpeechToText', 'TranscribeFile')
  transcribeFile(request: TranscribeFileRequest): TranscribeFileResponse {
    return encodeTranscript(
      {
        text: `${request.audio.length} bytes`,
        language: 'en',
        durationS: 1,
        segments: [],
        words: [],
      },
      NOTHING,
    );
  }

  @GrpcMethod('TextGeneration', 'Embed')
  embed({ body }: EmbedRequest): EmbedResponse {
    return encodeEmbedded({ vectors: body, dimensions: 1, execution: NOTHING });
  }

  @GrpcMethod('Health', 'Check')
  check(): HealthCheckResponse {
    return { status: SERVING };
  }
}

@Module({ controllers: [EchoController] })
class EchoModule {}

describe('the package definition in a Nest gRPC server', () => {
  let folder: string;
  let app: Awaited<ReturnType<typeof NestFactory.createMicroservice>>;
  let url: string;

  beforeAll(async () => {
    folder = temporaryFolder();
    url = `unix:${join(folder, 'worker.sock')}`;
    app = await NestFactory.createMicroservice<MicroserviceOptions>(EchoModule, {
      logger: false,
      transport: Transport.GRPC,
      options: { url, package: WORKER_PACKAGES, packageDefinition: workerPackageDefinition },
    });
    await app.listen();
  });

  afterAll(() => app.close());

  it('serves switchyard.v1 methods under their proto names', async () => {
    const client = new SpeechToTextStub(url, credentials.createInsecure());
    const request = encodeTranscribeCall({
      ...ENVELOPE,
      ...PLAIN_TRANSCRIPTION,
      audio: Buffer.alloc(1000),
      filename: 'a.wav',
    });
    const response = await new Promise<TranscribeFileResponse>((resolve, reject) => {
      client.transcribeFile(request, (error, reply) => (error ? reject(error) : resolve(reply)));
    });
    expect(response.text).toBe('1000 bytes');
    client.close();
  });

  it('serves all services of the package', async () => {
    const client = new TextGenerationStub(url, credentials.createInsecure());
    const request = encodeEmbedCall({
      ...ENVELOPE,
      body: Buffer.from('{}'),
      inputs: 1,
      tenant: '',
    });
    const response = await new Promise<EmbedResponse>((resolve, reject) => {
      client.embed(request, (error, reply) => (error ? reject(error) : resolve(reply)));
    });
    expect(response.vectors.toString()).toBe('{}');
    client.close();
  });

  it('serves the standard health check', async () => {
    const client = new HealthStub(url, credentials.createInsecure());
    const response = await new Promise<HealthCheckResponse>((resolve, reject) => {
      client.check({ service: '' }, (error, reply) => (error ? reject(error) : resolve(reply)));
    });
    expect(response.status).toBe(SERVING);
    client.close();
  });
});
