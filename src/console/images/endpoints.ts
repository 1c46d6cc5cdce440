import { imageLimits, imageTypes, storeImage } from '#forms/images/images.ts';
import { ApiError } from '#kit/errors.ts';
import type { Server } from '#kit/http.ts';
import type { ConsoleEndpoint, ConsoleRoute } from '../endpoint.ts';
import type { ConsoleServices } from '../services.ts';

/** Lets a request carry an image as it is. Of other content types its bytes are not even read. */
export function readImageBodies(server: Server): void {
  const options = { parseAs: 'buffer', bodyLimit: imageLimits.bytes } as const;
  server.addContentTypeParser([...imageTypes], options, (_request, body, done) => done(null, body));
}

/** Logos and covers: an image goes up, and its id into the settings of forms (`theme.logo`, `theme.cover`). */
export function imageConsoleRoutes({ database, storage }: ConsoleServices): readonly ConsoleRoute[] {
  const upload: ConsoleEndpoint = {
    needs: 'editor',
    async handle({ membership }, { body }) {
      if (!Buffer.isBuffer(body))
        throw new ApiError('unsupported_media_type', `Send an image: ${imageTypes.join(', ')}.`);
      return { status: 201, body: await storeImage({ database, storage }, membership!.workspaceId, body) };
    },
  };
  return [['POST', '/workspaces/:workspace/images', upload]];
}
