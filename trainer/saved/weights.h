/* weights.h - what the parameters of a checkpoint are called in PyTorch, and which shape they have there.

   convs.<l>. of layer l, names and shapes of PyG's layer, so that its load_state_dict takes them:
     GCN        GCNConv       lin.weight (out, in), bias (out)
     GraphSAGE  SAGEConv      lin_l.weight (out, in), lin_l.bias (out) of the neighbours, lin_r.weight (out, in) of the node itself.
                              --aggregator pool: with project=True, aggr='max', lin.weight (in, in) and lin.bias (in), too;
                              gcn: with root_weight=False over lists with the node itself, no lin_r; importance: no layer of PyG
                              weighs the mean, the parameters are those of the mean
     GAT        GATConv       lin.weight (K out, in), att_src, att_dst (1, K, out), bias; K heads, concatenated, of the last layer averaged.
                              --edge-features: with edge_dim=F: lin_edge.weight (K out, F), att_edge (1, K, out)
   Names of our own, of torch.nn's layers:
     lins.<l>.       Linear     MLP's weight (out, in), bias (out)
     residuals.<l>.  Linear     --residual's weight (out, in), without bias; none where in = out: the input is added as it is
     norms.<l>.      LayerNorm  --norm's weight and bias (out)
     edges.<l>.      Linear     of GraphSAGE with --edge-features: weight (out, F), without bias, of the mean of the list's rows of edges;
                                its product is added to SAGEConv's */
#ifndef TRAINER_WEIGHTS_H
#define TRAINER_WEIGHTS_H
#include "trainer/options/config.h"
#include "trainer/saved/checkpoint_file.h"

typedef struct {
    char    name[40];
    int32_t num_dims;
    int64_t dim[3], count; /* count: elements */
    int64_t from;          /* its first element in the parameters' array */
    int32_t rows, cols;    /* there, row-major */
    bool    transposed;
} weight_tensor;

enum { WEIGHTS_MAX = 2 * NET_PARAMS_MAX };

/* The tensors of these parameters, of a checkpoint at path with these options: tensor[0 .. *tensors), in the parameters' order. An error
   names the parameter that the model does not have, or lacks. */
bool weights_plan(const config* c, const char* path, const net_param* param, int32_t count, weight_tensor tensor[WEIGHTS_MAX], int32_t* tensors,
                  error* why);

/* Fills a tensor's elements, as PyTorch has them, from all parameters. */
void weights_copy(float* to, const weight_tensor* t, const float* values);
#endif
