import { type ServerUnaryCall } from '@grpc/grpc-js';
import { Controller, UseFilters } from '@nestjs/common';
import { GrpcMethod } from '@nestjs/microservices';
import {
  type CancelRequest,
  type CancelResponse,
} from '../../contracts/grpc/call.codec.js';
import {
  decodeEmbedCall,
  encodeEmbedded,
  type EmbedRequest,
  type EmbedResponse,
} from '../../contracts/grpc/generation.codec.js';
import { type HealthResponse, encodeHealth } from '../../contracts/grpc/health.codec.js';
import { EmbeddingService } from '../execution/embedding.service.js';
import { CallFailureFilter } from './call-failure.filter.js';
import { HealthReporter } from '../execution/health-reporter.js';
import { InFlightCalls } from '../lifecycle/in-flight-calls.js';

/** `switchyard.v1.TextGeneration` of a worker whose kind is embedding. */
@Controller()
@UseFilters(CallFailureFilter)
export class EmbeddingController {
  constructor(
    private readonly calls: InFlightCalls,
    private readonly embedding: EmbeddingService,
    private readonly health: HealthReporter,
  ) {}

  @GrpcMethod('TextGeneration', 'Embed')
  embed(
    message: EmbedRequest,
    _metadata: unknown,
    call: ServerUnaryCall<EmbedRequest, EmbedResponse>,
  ): Promise<EmbedResponse> {
    return this.calls.run(message.requestId, call, async signal =>
      encodeEmbedded(await this.embedding.embed(decodeEmbedCall(message), signal)),
    );
  }

  @GrpcMethod('TextGeneration', 'Cancel')
  cancel({ requestId, reason }: CancelRequest): CancelResponse {
    return { acknowledged: this.calls.cancel(requestId, reason) };
  }

  @GrpcMethod('TextGeneration', 'Health')
  report(): HealthResponse {
    return encodeHealth(this.health.report());
  }
}
