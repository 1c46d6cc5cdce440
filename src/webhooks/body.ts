import type { LinkTarget } from '#kit/personal-link.ts';
import type { EventKind, Snapshot } from './event.ts';

export type BodySource = {
  kind: EventKind;
  occurredAt: Date;
  deliveryId: string;
  /** The JSON text of a Snapshot, as `events.snapshot` keeps it: PostgreSQL leaves a json as it was written. */
  snapshot: string;
  /** Returns the download address of a file. It lives for an hour, so it is made for each send. */
  signLink: (file: LinkTarget) => string;
};

/**
 * The JSON text that is signed and sent. Specification, "Request body". Every send of a delivery has the same text,
 * but for the links. A file also has its `id`, with which a new link can be asked for.
 * @throws when the snapshot is not what this service wrote.
 */
export function deliveryBody({ kind, occurredAt, deliveryId, snapshot, signLink }: BodySource): string {
  const head = JSON.stringify({ event: kind, timestamp: occurredAt.toISOString(), delivery_id: deliveryId });
  return `${head.slice(0, -1)},${withLinks(snapshot, signLink).slice(1)}`;
}

/** How a snapshot begins and, without files, ends. In a text of somebody's, a quotation mark is escaped. */
const beginning = '{"form":{';
const endWithoutFiles = ',"file_uploads":{}}}';

/** The `form` and `submission` of the body. Without files they are the snapshot's, to the byte. */
function withLinks(snapshot: string, signLink: BodySource['signLink']): string {
  if (snapshot.startsWith(beginning) && snapshot.endsWith(endWithoutFiles)) return snapshot;
  const { form, submission } = JSON.parse(snapshot) as Snapshot;
  const uploads = Object.entries(submission.file_uploads).map(([element, files]) => [
    element,
    files.map(({ filename, ...file }) => ({
      filename,
      url: signLink({ workspaceId: form.workspace_id, formId: form.id, id: file.id }),
      ...file,
    })),
  ]);
  return JSON.stringify({ form, submission: { ...submission, file_uploads: Object.fromEntries(uploads) } });
}
