import { Type } from 'typebox';
import { operation } from '#kit/operation.ts';
import { type ImagesContext, imageLimits, imageTypes, storeImage } from './images.ts';

/** The smallest there is: a single pixel. */
const pixel =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

/** Pictures of themes. */
export const imageEndpoints = ({ database, storage }: ImagesContext) => ({
  createImage: operation({
    summary: 'Create image',
    description:
      'Takes a PNG, JPEG or WebP of at most 10 MB and 25 megapixels (8, if it is progressive or interlaced). It is kept in the sizes that pages ask for, without what a camera wrote into it. Its id goes into `theme.logo`, `theme.logo_dark`, `theme.cover`, `theme.favicon` or `theme.social_image` of the settings of any form of the workspace; an image that no form names is removed after a day. 409: the workspace has as many as it may have. 503: too many come at once.',
    // Also of a key that is limited to certain forms: it may give these a logo, and an id opens nothing.
    permission: 'forms:write',
    bodyContent: imageTypes,
    bodyLimit: imageLimits.bytes,
    example: { body: Buffer.from(pixel, 'base64') },
    reply: {
      status: 201,
      description: 'The id of the image.',
      schema: Type.Object({ id: Type.String({ format: 'uuid' }) }),
    },
    run: async ({ workspaceId, body }) => ({
      body: await storeImage({ database, storage }, workspaceId, body),
    }),
  }),
});
