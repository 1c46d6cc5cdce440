import type { ReactElement } from 'react';
import type { LinkedFile } from '#submissions/shapes.ts';
import { Icon } from '../../design/icon.tsx';
import { Marked } from '../../design/marked.tsx';
import { saySize } from '#ast/say-size.ts';

/** A file that is held in the spam box has no address yet. */
type ListedFile = Omit<LinkedFile, 'url'> & { url?: string };

/** Files with a preview where they are images that are safe to show; each is a link that downloads it. */
export function FileList({
  files,
  isWhole = false,
  hits,
}: {
  files: readonly ListedFile[];
  /** Pictures are seen as a whole, as signatures are. */
  isWhole?: boolean;
  hits: readonly string[];
}): ReactElement {
  return (
    <ul className="files">
      {files.map((file) => (
        <li key={file.id}>
          <a href={file.url} className="file" download>
            {file.url && shownImages.includes(file.content_type) ? (
              <img
                src={addressHere(file.url)}
                alt=""
                className={isWhole ? 'file-preview is-whole' : 'file-preview'}
                loading="lazy"
              />
            ) : (
              <Icon name="file" />
            )}
            <span className="file-text">
              <span>
                <Marked text={file.filename} hits={hits} />
              </span>
              <span className="soft small">{saySize(file.size)}</span>
            </span>
            {file.url && <Icon name="download" />}
          </a>
        </li>
      ))}
    </ul>
  );
}

/**
 * The images that browsers draw without running anything of them; the service has recognised them by their bytes, or drawn
 * them itself: no other file is called an SVG.
 */
const shownImages: readonly string[] = [
  'image/png',
  'image/jpeg',
  'image/webp',
  'image/gif',
  'image/svg+xml',
];

/** A link names the service by its public address; the page may draw what comes from its own. */
function addressHere(link: string): string {
  const { pathname, search } = new URL(link);
  return pathname + search;
}
