import type { FilesContext } from '#files/stored-files.ts';
import type { SmtpConfig } from '#kit/smtp.ts';
import type { CountingContext } from '../visit/count-visit.ts';
import type { DrawingContext } from '../visit/form-page.ts';
import type { ScreeningContext } from '../visit/screening.ts';

/** Dependencies for answering a post. `publicUrl` is the origin of generated links. */
export type PostContext = ScreeningContext &
  DrawingContext &
  CountingContext &
  FilesContext & {
    readonly config: { readonly publicUrl: string; readonly smtp: SmtpConfig | undefined };
  };
