import { Module } from '@nestjs/common';
import { ModelsModule } from '../models/models.module.js';
import { SchedulerModule } from '../scheduler/scheduler.module.js';
import { TextModule } from '../text/text.module.js';
import { MessagesController } from './messages.controller.js';

/** `/v1/messages`, a dialect of chat. */
@Module({
  imports: [ModelsModule, SchedulerModule, TextModule],
  controllers: [MessagesController],
})
export class MessagesModule {}
