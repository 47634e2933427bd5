// rows = 64 * MT * WGS. Arguments of Cfg: INT4, MT, WGS, BN, CM, S, RED, ABL, INTER.
#include "variants.h"
typedef std::vector<Variant> List;
template <int MT, int WGS, int BN, int CM, int INTER, int... S> void codes(List& v) {
  (v.push_back(variant<Cfg<true, MT, WGS, BN, CM, S, 0, 0, INTER>>()), ...);
}
template <int MT, int WGS, int BN, int CM, int INTER, int... S> void codes_mail(List& v) {
  (v.push_back(variant<Cfg<true, MT, WGS, BN, CM, S, 1, 0, INTER>>()), ...);
}
template <int MT, int WGS, int BN, int CM, int S, int INTER, int... ABL> void codes_parts(List& v) {
  (v.push_back(variant<Cfg<true, MT, WGS, BN, CM, S, 0, ABL, INTER>>()), ...);
}
template <int MT, int WGS, int BN, int CM, int... S> void floats(List& v) {
  (v.push_back(variant<Cfg<false, MT, WGS, BN, CM, S>>()), ...);
}
template <int MT, int WGS, int BN, int CM, int... S> void floats_mail(List& v) {
  (v.push_back(variant<Cfg<false, MT, WGS, BN, CM, S, 1>>()), ...);
}
static List all() {
  List v;
  codes<1, 2, 64, 1, 0, 0, 1, 2, 3, 4, 6>(v);
  codes<1, 2, 64, 1, 1, 0, 1, 2, 3, 4, 6>(v);
  codes<1, 2, 128, 1, 0, 0, 1, 2, 3, 4, 6>(v);
  codes<1, 2, 128, 1, 1, 0, 1, 2, 3, 4, 6>(v);
  codes<1, 2, 128, 2, 1, 0, 1, 2, 3, 4>(v);
  codes<1, 2, 256, 1, 0, 0, 1, 2, 3, 4, 6>(v);
  codes<1, 2, 256, 1, 1, 0, 1, 2, 3, 4, 6>(v);
  codes<1, 2, 256, 2, 1, 0, 1, 2, 4>(v);
  codes<1, 2, 256, 2, 0, 0, 1>(v);
  codes<1, 2, 176, 1, 0, 1>(v);
  codes<1, 2, 176, 1, 1, 0, 1>(v);
  codes<1, 2, 192, 1, 1, 0, 1>(v);
  codes<2, 2, 64, 1, 1, 0, 4, 8>(v);
  codes<2, 2, 64, 1, 0, 4, 8>(v);
  codes<2, 2, 128, 1, 1, 0, 1, 2, 4, 8>(v);
  codes<2, 2, 128, 1, 0, 2, 4>(v);
  codes<1, 1, 64, 1, 1, 0, 1, 2>(v);
  codes<1, 1, 128, 1, 1, 0, 1, 2>(v);
  codes<1, 1, 256, 1, 1, 1, 2>(v);
  codes_mail<1, 2, 64, 1, 1, 2, 3, 4>(v);
  codes_mail<1, 1, 64, 1, 1, 2, 3>(v);
  codes_mail<1, 2, 128, 1, 1, 2, 3, 4>(v);
  codes_mail<1, 1, 128, 1, 1, 2, 3>(v);
  codes_mail<1, 2, 256, 1, 1, 2, 3, 4>(v);
  codes_mail<2, 2, 128, 1, 1, 2>(v);
  codes_parts<1, 2, 256, 1, 1, 0, 1, 2, 3>(v);
  codes_parts<1, 2, 128, 1, 1, 0, 1, 2, 3>(v);
  codes_parts<1, 2, 128, 1, 1, 1, 3>(v);
  codes_parts<1, 2, 128, 1, 4, 0, 1, 2>(v);
  codes_parts<1, 2, 128, 1, 4, 1, 3>(v);
  codes_parts<1, 2, 256, 1, 4, 1, 3>(v);
  floats<1, 1, 32, 1, 0, 1, 2, 4, 8, 16>(v);
  floats<1, 1, 64, 1, 0, 1, 2, 3, 4, 8, 16>(v);
  floats<1, 1, 128, 1, 0, 1, 2, 3, 4, 8>(v);
  floats<1, 1, 192, 1, 0, 1>(v);
  floats<1, 1, 256, 1, 0, 1, 2, 4>(v);
  floats<1, 2, 32, 1, 0, 1, 2, 4>(v);
  floats<1, 2, 64, 1, 0, 1, 2, 4>(v);
  floats<1, 2, 128, 1, 0, 1, 2, 4>(v);
  floats<1, 2, 128, 2, 0, 1, 2>(v);
  floats<1, 2, 192, 1, 0, 1>(v);
  floats<1, 2, 256, 1, 0, 1, 2>(v);
  floats<1, 2, 256, 2, 0, 1, 2>(v);
  floats<2, 2, 128, 1, 0, 1, 2>(v);
  floats<2, 2, 128, 2, 0, 1>(v);
  floats_mail<1, 1, 32, 1, 2, 4, 8>(v);
  floats_mail<1, 1, 64, 1, 2, 3, 4, 8>(v);
  floats_mail<1, 1, 128, 1, 2, 3, 4, 8>(v);
  floats_mail<1, 1, 256, 1, 2, 3>(v);
  floats_mail<1, 2, 64, 1, 2, 4, 6>(v);
  floats_mail<1, 2, 128, 1, 2, 4, 6>(v);
  floats_mail<1, 2, 256, 1, 2>(v);
  v.push_back(variant<Cfg<false, 1, 1, 64, 1, 4, 0, 3>>());
  v.push_back(variant<Cfg<false, 1, 1, 64, 1, 1, 0, 3>>());
  v.push_back(variant<Cfg<false, 1, 2, 128, 1, 1, 0, 3>>());
  return v;
}
List VARIANTS = all();
