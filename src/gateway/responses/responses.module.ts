import { Module } from '@nestjs/common';
import { ModelsModule } from '../models/models.module.js';
import { TextModule } from '../text/text.module.js';
import { Conversations } from './conversations.js';
import { NativeResponses } from './native-responses.js';
import { ResponsesController } from './responses.controller.js';
import { ResponsesService } from './responses.service.js';

/**
 * `/v1/responses`. What outlives a request is in `RESPONSE_STORE`, where a module of all
 * the gateway binds it.
 */
@Module({
  imports: [ModelsModule, TextModule],
  controllers: [ResponsesController],
  providers: [Conversations, NativeResponses, ResponsesService],
  exports: [Conversations],
})
export class ResponsesModule {}
