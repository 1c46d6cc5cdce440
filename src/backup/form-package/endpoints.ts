import { Type } from 'typebox';
import { type FormAddresses, presentCreated } from '#forms/present.ts';
import { CreatedForm } from '#forms/shapes.ts';
import { attachment } from '#kit/attachment.ts';
import { named } from '#kit/named.ts';
import { idParameter, operation } from '#kit/operation.ts';
import { requireReach, requireWholeWorkspace } from '#workspaces/reach.ts';
import { examplePackage } from './example.ts';
import { packForm } from './pack-form.ts';
import { packageLimits } from './package-file.ts';
import { type UnpackContext, unpackForm } from './unpack-form.ts';

const UnpackedForm = named(
  'UnpackedForm',
  Type.Object({
    ...CreatedForm.properties,
    left_out: Type.Array(Type.Object({ what: Type.String(), why: Type.String() }), {
      description: 'What of the file was not taken over, or not wholly, and why.',
    }),
  }),
);

const gzip = ['application/gzip'] as const;

/** A form in one file, and back. */
export const packageEndpoints = (context: UnpackContext & { addresses: FormAddresses }) => ({
  packForm: operation({
    summary: 'Pack form',
    description:
      'A form as one file, for Unpack form here or at another service: all its versions with their settings and texts, its working copy, its images, and its webhooks without secrets, where the caller has webhooks:read. A tar file, packed with gzip. Submissions are not in it, nor is a password. Of many versions the newest are, as far as there is room. 413: what the form shows now has more than 16 MB of images.',
    permission: 'forms:read',
    params: idParameter,
    errors: ['payload_too_large'],
    reply: { status: 200, description: 'The file.', content: gzip },
    async run({ workspaceId, formIds, params, may }) {
      requireReach(formIds, params.id);
      const place = { workspaceId, formId: params.id, withWebhooks: may('webhooks:read') };
      const { name, stream } = await packForm(context, place);
      return { headers: { ...attachment(name, '.form.tar.gz'), 'Content-Type': gzip[0] }, stream };
    },
  }),

  unpackForm: operation({
    summary: 'Unpack form',
    description:
      'Creates a draft from a form package, or nothing if the file has a problem. A file has at most 24 MB. The form, its images and its webhooks get new ids. Webhooks need the permission webhooks:write, and are paused if they had secrets. `left_out` lists what was not imported.',
    permission: 'forms:write',
    bodyContent: gzip,
    bodyLimit: packageLimits.bytes,
    example: { body: examplePackage },
    errors: ['conflict'],
    reply: { status: 201, description: 'The form.', schema: UnpackedForm },
    async run({ body, ...scope }) {
      requireWholeWorkspace(scope.formIds);
      const { row, structure, leftOut } = await unpackForm(context, scope, body);
      return { body: { ...presentCreated(row, structure, context.addresses), left_out: leftOut } };
    },
  }),
});
