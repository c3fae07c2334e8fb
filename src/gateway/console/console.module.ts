import { Module } from '@nestjs/common';
import { ConsoleController, ConsolePage } from './console.controller.js';

/** Pages for people. */
@Module({ controllers: [ConsoleController], providers: [ConsolePage] })
export class ConsoleModule {}
