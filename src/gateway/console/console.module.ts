import { Module } from '@nestjs/common';
import { ConsoleController } from './console.controller.js';
import { ConsolePage } from './console-page.js';

/** Pages for people. */
@Module({ controllers: [ConsoleController], providers: [ConsolePage] })
export class ConsoleModule {}
