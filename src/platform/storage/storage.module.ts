import { Module } from '@nestjs/common';
import { Spool } from './spool.js';

@Module({ providers: [Spool], exports: [Spool] })
export class StorageModule {}
