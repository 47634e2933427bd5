// The variants of 2026-11-23-wgmma-decode-2.md, and those of the first note that were fastest.
// LIST is 0 to 4: compiled as five files. Arguments of Cfg: INT4, MT, WGS, BN, CM, S, RED, ABL, INTER,
// KT, BUF, ORD.
#include "variants.h"
#ifndef LIST
#define LIST 0
#endif
#define JOIN2(a, b) a##b
#define JOIN(a, b) JOIN2(a, b)
typedef std::vector<Variant> List;
template <int WGS, int BN, int KT, int BUF, int ORD, int... S> void turns(List& v) {
  (v.push_back(variant<Cfg<true, 1, WGS, BN, 1, S, 0, 0, 0, KT, BUF, ORD>>()), ...);
}
template <int WGS, int BN, int KT, int BUF, int ORD, int... S> void turns_mail(List& v) {
  (v.push_back(variant<Cfg<true, 1, WGS, BN, 1, S, 1, 0, 0, KT, BUF, ORD>>()), ...);
}
// ABL 1: no decoding arithmetic; 2: nor codes read; 3: time stamps.
template <int WGS, int BN, int KT, int BUF, int ORD, int S, int... ABL> void turns_parts(List& v) {
  (v.push_back(variant<Cfg<true, 1, WGS, BN, 1, S, 0, ABL, 0, KT, BUF, ORD>>()), ...);
}
template <int WGS, int BN, int CM, int S, int RED, int INTER> void first_note(List& v) {
  v.push_back(variant<Cfg<true, 1, WGS, BN, CM, S, RED, 0, INTER>>());
}
// Decoding into shared memory.
template <int WGS, int BN, int DEC, int... S> void shared(List& v) {
  (v.push_back(variant<Cfg<true, 1, WGS, BN, 1, S, 0, 0, 0, 0, 1, 0, DEC>>()), ...);
}
template <int WGS, int BN, int DEC, int... S> void shared_mail(List& v) {
  (v.push_back(variant<Cfg<true, 1, WGS, BN, 1, S, 1, 0, 0, 0, 1, 0, DEC>>()), ...);
}
template <int WGS, int BN, int DEC, int... S> void shared_kn(List& v) {
  (v.push_back(variant<Cfg<true, 1, WGS, BN, 1, S, 0, 0, 0, 0, 1, 0, DEC, 1>>()), ...);
}
template <int WGS, int BN, int DEC, int... S> void shared_kn_mail(List& v) {
  (v.push_back(variant<Cfg<true, 1, WGS, BN, 1, S, 1, 0, 0, 0, 1, 0, DEC, 1>>()), ...);
}
template <int WGS, int BN, int DEC, int S> void shared_stamps(List& v) {
  v.push_back(variant<Cfg<true, 1, WGS, BN, 1, S, 0, 3, 0, 0, 1, 0, DEC>>());
}
void JOIN(add_, LIST)(List& v) {
#if LIST == 0
  first_note<2, 64, 1, 1, 0, 1>(v);
  first_note<2, 64, 1, 3, 0, 1>(v);
  first_note<2, 64, 1, 4, 0, 1>(v);
  first_note<2, 64, 1, 2, 1, 1>(v);
  first_note<2, 64, 1, 4, 1, 1>(v);
  first_note<2, 128, 1, 1, 0, 1>(v);
  first_note<2, 128, 2, 1, 0, 1>(v);
  first_note<2, 128, 1, 3, 0, 1>(v);
  first_note<2, 128, 1, 4, 0, 1>(v);
  first_note<2, 128, 1, 2, 1, 1>(v);
  first_note<1, 256, 1, 1, 0, 1>(v);
  first_note<1, 256, 1, 2, 0, 1>(v);
  first_note<2, 256, 1, 1, 0, 0>(v);
  first_note<2, 256, 1, 2, 0, 0>(v);
  first_note<2, 256, 1, 3, 0, 0>(v);
  first_note<2, 256, 2, 0, 0, 0>(v);
  first_note<2, 176, 1, 1, 0, 1>(v);
#elif LIST == 1
  // 128 rows: two warpgroups of 64, products in turns.
  turns<2, 64, 1, 2, 1, 1, 2, 4>(v);
  turns<2, 128, 1, 1, 1, 1, 4>(v);
  turns<2, 128, 1, 2, 0, 1, 4>(v);
  turns<2, 128, 1, 2, 1, 1, 2, 3, 4>(v);
  turns_mail<2, 128, 1, 2, 1, 2, 4>(v);
  turns<2, 176, 1, 2, 1, 1>(v);
  turns<2, 256, 1, 2, 0, 1>(v);
  turns<2, 256, 1, 2, 1, 1, 2>(v);
  turns_parts<2, 128, 1, 2, 1, 1, 1, 2, 3>(v);
  turns_parts<2, 128, 1, 2, 1, 4, 3>(v);
#elif LIST == 2
  // 64 rows: two or three warpgroups take turns along K.
  turns<1, 256, 2, 1, 0, 1, 2>(v);
  turns<1, 256, 2, 1, 1, 1>(v);
  turns<1, 256, 2, 2, 0, 1>(v);
  turns<1, 256, 2, 2, 1, 1, 2, 3>(v);
  turns_mail<1, 256, 2, 2, 1, 2>(v);
  turns<1, 128, 2, 2, 0, 1, 2>(v);
  turns<1, 128, 2, 2, 1, 1, 2, 3>(v);
  turns_mail<1, 128, 2, 2, 1, 2, 3>(v);
  turns<1, 64, 2, 2, 0, 1, 2>(v);
  turns<1, 128, 3, 2, 0, 1, 2, 3>(v);
  turns<1, 176, 3, 1, 0, 1, 2>(v);
  turns<1, 192, 3, 1, 0, 1, 2>(v);
  turns_parts<1, 256, 2, 2, 1, 1, 2, 3>(v);
#elif LIST == 4
  shared<1, 32, 1, 1, 2, 3>(v);
  shared<1, 64, 1, 1, 2, 3>(v);
  shared<1, 128, 1, 1, 2, 3>(v);
  shared<1, 176, 1, 1, 2>(v);
  shared<1, 192, 1, 1, 2>(v);
  shared<1, 256, 1, 1, 2, 3>(v);
  shared<2, 32, 1, 1, 2, 4>(v);
  shared<2, 32, 2, 1, 2, 4>(v);
  shared<2, 64, 1, 1, 2, 3, 4>(v);
  shared<2, 64, 2, 1, 2, 3, 4>(v);
  shared<2, 128, 1, 1, 2, 3, 4>(v);
  shared<2, 128, 2, 1, 2, 3, 4>(v);
  shared<2, 176, 1, 1>(v);
  shared<2, 192, 1, 1>(v);
  shared_mail<1, 32, 1, 2, 3>(v);
  shared_mail<1, 64, 1, 2, 3>(v);
  shared_mail<1, 128, 1, 2, 3>(v);
  shared_mail<2, 32, 2, 2, 4>(v);
  shared_mail<2, 64, 1, 2, 3, 4>(v);
  shared_mail<2, 64, 2, 2, 3, 4>(v);
  shared_mail<2, 128, 1, 2, 4>(v);
  shared_mail<2, 128, 2, 2, 4>(v);
  shared_mail<1, 256, 1, 2>(v);
  shared_kn<1, 32, 1, 1, 2, 3>(v);
  shared_kn<1, 64, 1, 1, 2, 3>(v);
  shared_kn<2, 32, 2, 1, 2, 4>(v);
  shared_kn<2, 64, 2, 1, 2, 3, 4>(v);
  shared_kn<2, 128, 2, 1, 2, 3, 4>(v);
  shared_kn<1, 128, 1, 1, 2>(v);
  shared_kn<1, 256, 1, 1, 2>(v);
  shared_kn<2, 192, 1, 1>(v);
  shared_kn_mail<1, 32, 1, 2>(v);
  shared_kn_mail<1, 64, 1, 2>(v);
  shared_kn_mail<2, 64, 2, 2, 4>(v);
  shared_kn_mail<2, 128, 2, 2, 4>(v);
  shared_stamps<2, 64, 2, 2>(v);
  shared_stamps<2, 128, 1, 1>(v);
  shared_stamps<2, 128, 2, 1>(v);
  shared_stamps<1, 64, 1, 1>(v);
#else
  // Four warpgroups: 128 rows x 2 sets, 64 rows x 4 sets.
  turns<2, 32, 2, 1, 0, 1, 2, 4>(v);
  turns<2, 64, 2, 1, 0, 1, 2, 3, 4>(v);
  turns_mail<2, 64, 2, 1, 0, 2, 3, 4>(v);
  turns<2, 64, 2, 1, 1, 1, 4>(v);
  turns<2, 128, 2, 1, 0, 1, 4>(v);
  turns<1, 32, 4, 1, 0, 1, 2, 3>(v);
  turns_mail<1, 32, 4, 1, 0, 2, 3>(v);
  turns<1, 64, 4, 1, 0, 1, 2, 3>(v);
  turns_mail<1, 64, 4, 1, 0, 2, 3>(v);
  turns<1, 128, 4, 1, 0, 1, 2, 3>(v);
  turns_mail<1, 128, 4, 1, 0, 2>(v);
  turns_parts<1, 64, 4, 1, 0, 1, 1, 2, 3>(v);
  turns_parts<2, 64, 2, 1, 0, 4, 3>(v);
#endif
}
#if LIST == 0
void add_1(List&);
void add_2(List&);
void add_3(List&);
void add_4(List&);
static List all() {
  List v;
  add_0(v), add_1(v), add_2(v), add_3(v), add_4(v);
  return v;
}
List VARIANTS = all();
#endif
