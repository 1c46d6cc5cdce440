import { offers } from './offers.ts';

/** `offers`, which the page's script loads only for forms with conditional options (web/page/offers.ts). */
export const lateOffers: Partial<typeof offers> = offers;
