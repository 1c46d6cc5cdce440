import { useMemo } from 'react';
import type { Settings } from '#ast/settings.ts';
import type { Scheme } from '#ast/theme/palette.ts';
import { lookOf } from '#page/theme/look.ts';
import { drawableFrame } from '../model/drawable.ts';
import type { EditNode } from '../model/edit-node.ts';
import { speechOf } from '../preview/speech.ts';
import { lookInScheme, schemeOf } from '../theme/look-in-scheme.ts';
import { drawableTheme } from '../theme/theme-choices.ts';
import type { Manner } from './page-markup.ts';

/** How the pages of a form look, speak and ask: the same object until one of these changes. */
export function useManner(formId: string, root: EditNode, settings: Settings, wished: Scheme): Manner {
  // What stands on the canvas is written in the first of the form's languages.
  const [first] = drawableFrame(root).attrs.languages ?? [];
  const speech = useMemo(() => speechOf(first === undefined ? [] : [first], settings), [first, settings]);
  return useMemo(() => {
    const theme = drawableTheme(settings.theme ?? {});
    const { language } = speech;
    const look = lookOf(formId, { ...settings, theme }, { isEmbedded: false, language });
    const scheme = schemeOf(theme, wished);
    return { formId, scheme, look: lookInScheme(look, scheme), speech, settings };
  }, [formId, settings, speech, wished]);
}
