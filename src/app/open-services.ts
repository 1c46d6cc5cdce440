import { openFileLinks } from '#files/stored-files.ts';
import { openLiveForms } from '#forms/live-form.ts';
import { now } from '#kit/clock.ts';
import { openStorage } from '#kit/open-storage.ts';
import { openHeldFiles } from '#page/post/held-files.ts';
import { openFeedBell } from '#webhooks/feed/feed-bell.ts';
import type { Ground, Services } from './services.ts';

/** The services of a process; whoever opens them closes the feed's bell at the end. */
export const openServices = (ground: Ground): Omit<Services, 'wakeQueue'> => ({
  ...ground,
  storage: openStorage(ground.config),
  links: openFileLinks({ vault: ground.vault, publicUrl: ground.config.publicUrl, now }),
  liveForms: openLiveForms(ground.database),
  heldFiles: openHeldFiles(ground),
  feedBell: openFeedBell(ground),
});
