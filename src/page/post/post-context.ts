import type { FileServices } from '#files/stored-files.ts';
import type { Config } from '#kit/config.ts';
import type { CountVisitServices } from '../visit/count-visit.ts';
import type { RenderPageServices } from '../visit/form-page.ts';
import type { ScreeningServices } from '../visit/screening.ts';

/** Dependencies for answering a post. `publicUrl` is the origin of generated links. */
export type PostServices = ScreeningServices &
  RenderPageServices &
  CountVisitServices &
  FileServices & { readonly config: Pick<Config, 'publicUrl' | 'smtp' | 'identityProvider'> };
