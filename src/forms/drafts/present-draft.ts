import type { Static } from 'typebox';
import { wired } from '#kit/wire.ts';
import { type FormAddresses, publicUrlOf } from '../present.ts';
import type { Draft } from '../shapes.ts';
import { draftTag } from './draft-tag.ts';
import type { BuilderForm } from './draft.ts';

/** A working copy as it is shown, with its ETag, which also changes with what it is shown beside. */
export function presentDraft({ form, draft }: BuilderForm, addresses: FormAddresses) {
  const { version, structure, settings, version_created_at, version_created_by, ...own } = form;
  const tag = draftTag(
    draft.revision,
    `${version}.${own.updated_at.getTime().toString(36)}.${own.submission_count}`,
  );
  const body: Static<typeof Draft> = {
    ...wired(draft),
    // Whatever was saved is an object; its parts may be anything.
    structure: draft.structure,
    settings: draft.settings,
    etag: tag,
    live: {
      version,
      structure,
      settings,
      created_at: wired(version_created_at),
      created_by: version_created_by,
    },
    form: { ...wired(own), public_url: publicUrlOf(addresses, own.id) },
  };
  return { body, tag };
}
