import { Module } from '@nestjs/common';
import { RequestRegistry } from './request-registry.js';

/** What is known of each request of this gateway, from its submission to its end. */
@Module({ providers: [RequestRegistry], exports: [RequestRegistry] })
export class RegistryModule {}
