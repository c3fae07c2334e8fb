import { type Metadata, type ServerDuplexStream, type ServerUnaryCall } from '@grpc/grpc-js';
import { Controller } from '@nestjs/common';
import { GrpcMethod, GrpcStreamCall } from '@nestjs/microservices';
import { invalidField } from '@switchyard/engine-api/field-problems.js';
import { attemptOf, traceOfCall } from '@switchyard/worker-protocol/call.codec.js';
import {
  decodeTranscribeCall,
  encodeTranscript,
  type TranscribeFileRequest,
  type TranscribeFileResponse,
  type TranscribeStreamRequest,
  type TranscribeStreamResponse,
  type TranscribeUploadRequest,
  type TranscribeUploadResponse,
} from '@switchyard/worker-protocol/stt.codec.js';
import { encodeFailure } from '../../contracts/errors/status.codec.js';
import { HealthReporter } from '../execution/health-reporter.js';
import { RecognitionService } from '../execution/recognition.service.js';
import { InFlightCalls } from '../lifecycle/in-flight-calls.js';
import { CallConversation } from './call-conversation.js';
import { serviceController } from './service-controller.js';
import { StreamService } from './stream.service.js';
import { UploadService } from './upload.service.js';

/** `switchyard.v1.SpeechToText`. */
@Controller()
export class SttController extends serviceController('SpeechToText') {
  constructor(
    calls: InFlightCalls,
    health: HealthReporter,
    private readonly transcription: RecognitionService,
    private readonly uploads: UploadService,
    private readonly streams: StreamService,
  ) {
    super(calls, health);
  }

  @GrpcMethod('SpeechToText', 'TranscribeFile')
  transcribeFile(
    message: TranscribeFileRequest,
    metadata: Metadata,
    call: ServerUnaryCall<TranscribeFileRequest, TranscribeFileResponse>,
  ): Promise<TranscribeFileResponse> {
    return this.calls.run(attemptOf(message), call, async signal => {
      const { transcript, execution } = await this.transcription.transcribe(
        { ...decodeTranscribeCall(message), ...traceOfCall(metadata) },
        signal,
      );
      return encodeTranscript(transcript, execution);
    });
  }

  @GrpcStreamCall('SpeechToText', 'TranscribeUpload')
  transcribeUpload(
    call: ServerDuplexStream<TranscribeUploadRequest, TranscribeUploadResponse>,
  ): Promise<void> {
    return converse(call, async conversation => {
      const first = await conversation.next();
      if (first?.message?.$case !== 'start')
        throw invalidField('start', 'The first message of an upload is its start.');
      const start = {
        ...decodeTranscribeCall(first.message.value),
        ...traceOfCall(call.metadata),
      };
      if (first.message.value.audio.length > 0)
        throw invalidField('audio', 'The audio of an upload follows its start.');
      await this.calls.run(attemptOf(first.message.value), call, signal =>
        this.uploads.serve(start, conversation.until(signal), signal),
      );
    });
  }

  @GrpcStreamCall('SpeechToText', 'TranscribeStream')
  transcribeStream(
    call: ServerDuplexStream<TranscribeStreamRequest, TranscribeStreamResponse>,
  ): Promise<void> {
    return converse(call, async conversation => {
      const first = await conversation.next();
      if (first?.message?.$case !== 'config')
        throw invalidField('config', 'The first message of a stream is its config.');
      const config = first.message.value;
      await this.calls.run({ id: config.sessionId }, call, signal =>
        this.streams.serve(config, conversation.until(signal), signal),
      );
    });
  }
}

/** Ends the call as `work` ends; Nest does neither for a stream in both directions. */
async function converse<Received, Sent>(
  call: ServerDuplexStream<Received, Sent>,
  work: (conversation: CallConversation<Received, Sent>) => Promise<void>,
): Promise<void> {
  try {
    await work(new CallConversation(call));
    call.end();
  } catch (error) {
    call.emit('error', encodeFailure(error));
  }
}
