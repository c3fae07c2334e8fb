import { Module } from '@nestjs/common';
import { ModelsModule } from '../models/models.module.js';
import { TextModule } from '../text/text.module.js';
import { MessagesController } from './messages.controller.js';

/** `/v1/messages`, a dialect of chat. */
@Module({ imports: [ModelsModule, TextModule], controllers: [MessagesController] })
export class MessagesModule {}
