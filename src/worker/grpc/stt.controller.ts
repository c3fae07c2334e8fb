import { type ServerDuplexStream, type ServerUnaryCall } from '@grpc/grpc-js';
import { Controller, UseFilters } from '@nestjs/common';
import { GrpcMethod, GrpcStreamCall } from '@nestjs/microservices';
import {
  type CancelRequest,
  type CancelResponse,
} from '../../contracts/grpc/call.codec.js';
import { type HealthResponse, encodeHealth } from '../../contracts/grpc/health.codec.js';
import { encodeFailure } from '../../contracts/grpc/status.codec.js';
import {
  decodeTranscribeCall,
  encodeTranscript,
  type TranscribeFileRequest,
  type TranscribeFileResponse,
  type TranscribeStreamRequest,
  type TranscribeStreamResponse,
  type TranscribeUploadRequest,
  type TranscribeUploadResponse,
} from '../../contracts/grpc/stt.codec.js';
import { RecognitionService } from '../execution/recognition.service.js';
import { CallFailureFilter } from './call-failure.filter.js';
import { HealthReporter } from '../execution/health-reporter.js';
import { InFlightCalls } from '../lifecycle/in-flight-calls.js';
import { StreamService } from './stream.service.js';
import { UploadService } from './upload.service.js';

/** `switchyard.v1.SpeechToText`. */
@Controller()
@UseFilters(CallFailureFilter)
export class SttController {
  constructor(
    private readonly calls: InFlightCalls,
    private readonly transcription: RecognitionService,
    private readonly uploads: UploadService,
    private readonly streams: StreamService,
    private readonly health: HealthReporter,
  ) {}

  @GrpcMethod('SpeechToText', 'TranscribeFile')
  transcribeFile(
    message: TranscribeFileRequest,
    _metadata: unknown,
    call: ServerUnaryCall<TranscribeFileRequest, TranscribeFileResponse>,
  ): Promise<TranscribeFileResponse> {
    return this.calls.run(message.requestId, call, async signal => {
      const { transcript, execution } = await this.transcription.transcribe(
        decodeTranscribeCall(message),
        signal,
      );
      return encodeTranscript(transcript, execution);
    });
  }

  @GrpcStreamCall('SpeechToText', 'TranscribeUpload')
  async transcribeUpload(
    call: ServerDuplexStream<TranscribeUploadRequest, TranscribeUploadResponse>,
  ): Promise<void> {
    try {
      await this.uploads.serve(call);
      call.end();
    } catch (error) {
      call.emit('error', encodeFailure(error));
    }
  }

  @GrpcStreamCall('SpeechToText', 'TranscribeStream')
  async transcribeStream(
    call: ServerDuplexStream<TranscribeStreamRequest, TranscribeStreamResponse>,
  ): Promise<void> {
    try {
      await this.streams.serve(call);
      call.end();
    } catch (error) {
      call.emit('error', encodeFailure(error));
    }
  }

  @GrpcMethod('SpeechToText', 'Cancel')
  cancel({ requestId, reason }: CancelRequest): CancelResponse {
    return { acknowledged: this.calls.cancel(requestId, reason) };
  }

  @GrpcMethod('SpeechToText', 'Health')
  report(): HealthResponse {
    return encodeHealth(this.health.report());
  }
}
