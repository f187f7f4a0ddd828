import { templateOf } from './template-of.ts';
import { variants } from './variants.ts';

// Prints the templates of the variants for `variantTemplate`.
const templates = Object.entries(variants).map(([variant, settings]) => [
  variant,
  templateOf({ stage: settings.name, settings }),
]);
console.log(JSON.stringify(Object.fromEntries(templates)));
