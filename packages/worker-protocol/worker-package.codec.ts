import { type ServiceDefinition } from '@grpc/grpc-js';
import { textGenerationDefinition } from './generation.codec.js';
import { healthDefinition } from './health.codec.js';
import { speechToTextDefinition } from './stt.codec.js';
import { textToSpeechDefinition } from './tts.codec.js';

/**
 * The services of all kinds of workers as a grpc-js package definition: the
 * `packageDefinition` of Nest's gRPC transport, so that no .proto file is parsed at run
 * time. Use with `package: WORKER_PACKAGES`.
 *
 * Nest looks handlers up by the name of the proto method:
 * `@GrpcMethod('SpeechToText', 'TranscribeFile')`.
 */
export const workerPackageDefinition = {
  'switchyard.v1.SpeechToText': byProtoName(speechToTextDefinition),
  'switchyard.v1.TextToSpeech': byProtoName(textToSpeechDefinition),
  'switchyard.v1.TextGeneration': byProtoName(textGenerationDefinition),
  'grpc.health.v1.Health': byProtoName(healthDefinition),
};

export const WORKER_PACKAGES = ['switchyard.v1', 'grpc.health.v1'];

/**
 * ts-proto names methods `transcribeFile`; the path of each method ends in the name of
 * the .proto file.
 */
function byProtoName(definition: ServiceDefinition): ServiceDefinition {
  const methods = Object.entries(definition).map(([name, method]) => {
    const protoName = method.path.slice(method.path.lastIndexOf('/') + 1);
    return [protoName, { ...method, originalName: name }] as const;
  });
  return Object.fromEntries(methods);
}
