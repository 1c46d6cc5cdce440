import type { IconName } from '../design/icon.tsx';

/** The views of the builder, in the order of their tabs. The first one is shown if the address names none. */
export const builderViews = [
  { id: 'design', label: 'Design', icon: 'edit' },
  { id: 'preview', label: 'Preview', icon: 'eye' },
  { id: 'theme', label: 'Theme', icon: 'theme' },
  { id: 'languages', label: 'Languages', icon: 'globe' },
  { id: 'settings', label: 'Settings', icon: 'settings' },
  { id: 'share', label: 'Share', icon: 'share' },
  { id: 'versions', label: 'History', icon: 'history' },
  { id: 'json', label: 'JSON', icon: 'file' },
] as const satisfies readonly { id: string; label: string; icon: IconName }[];

export type BuilderView = (typeof builderViews)[number]['id'];

const panels = ['steps', 'properties', 'paths'] as const;

/** What is open over the canvas: a pane on a phone, or the map of the paths. */
export type BuilderPanel = (typeof panels)[number];

/** What the address of the builder names beside the form. The router reads and writes it. */
export type BuilderAddress = {
  readonly view?: BuilderView | undefined;
  readonly panel?: BuilderPanel | undefined;
  /** The selected step or element: its id, or its position if it has none (`formatNodeAddress`). */
  readonly selected?: string | undefined;
};

/** Validates the parameters of the address. Parts that name nothing are ignored, because people edit URLs. */
export const parseBuilderAddress = ({
  view,
  panel,
  selected,
}: Readonly<Record<string, unknown>>): BuilderAddress => ({
  view: builderViews.slice(1).find(({ id }) => id === view)?.id,
  panel: panels.find((id) => id === panel),
  selected: typeof selected === 'string' || typeof selected === 'number' ? String(selected) : undefined,
});
