/** An OpenAPI 3.1 document, as far as we write it. */
export type OpenApi = {
  openapi: '3.1.0';
  info: { title: string; version: string; description: string; license: object; contact: object };
  servers: { url: string; description: string }[];
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, Operation>>;
  webhooks: Record<string, { post: Omit<Operation, 'parameters'> & { parameters: Parameter[] } }>;
  components: {
    schemas: Record<string, object>;
    responses: Record<string, Response>;
    headers: Record<string, Header>;
    securitySchemes: Record<string, object>;
  };
  security: object[];
  externalDocs: { url: string; description: string };
};

export type Operation = {
  operationId: string;
  summary: string;
  description: string;
  deprecated?: true;
  tags: string[];
  security: Record<string, string[]>[];
  /** Without one anybody may, or the service itself does. */
  'x-permission'?: string;
  parameters: Parameter[];
  requestBody?: { required: boolean; content: Content };
  responses: Record<string, Response | Reference>;
  /** In place of those of the document. */
  servers?: { url: string }[];
};

export type Parameter = {
  name: string;
  in: 'path' | 'query' | 'header';
  required: boolean;
  description?: string;
  schema: object;
  example?: unknown;
};

export type Reference = { $ref: string };
export type Header = { description: string; required: boolean; schema: object };
export type Content = Record<string, { schema: object; example?: unknown }>;
export type Response = {
  description: string;
  headers?: Record<string, Header | Reference>;
  content?: Content;
};
