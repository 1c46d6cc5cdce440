import { offers } from './offers.ts';

/** `offers`, which the page's script loads only for forms that have options by condition (web/page/offers.ts). */
export const lateOffers: Partial<typeof offers> = offers;
