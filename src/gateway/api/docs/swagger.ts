import { type INestApplication } from '@nestjs/common';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';

/** The OpenAPI document of the whole gateway. */
export function openApiDocument(app: INestApplication): OpenAPIObject {
  const config = new DocumentBuilder()
    .setTitle('Switchyard')
    .setDescription('OpenAI-compatible inference gateway: every request below can be run from this page.')
    .setVersion('1')
    .addBearerAuth({ type: 'http', description: 'An API key, where the server asks for one.' })
    .addSecurityRequirements('bearer')
    .build();
  return SwaggerModule.createDocument(app, config);
}

/** Swagger UI at `/docs`, the document at `/docs-json`. Built on first use: starting up does not wait for it. */
export function serveDocs(app: INestApplication): void {
  SwaggerModule.setup('docs', app, () => openApiDocument(app), {
    jsonDocumentUrl: 'docs-json',
    customSiteTitle: 'Switchyard',
    swaggerOptions: { tryItOutEnabled: true, displayRequestDuration: true, defaultModelsExpandDepth: 0 },
  });
}
